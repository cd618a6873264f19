package iceberglite.spark

import java.nio.file.Paths

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tags.Slow

/**
 * Runs the script of a job, `tests/job/life.sql`, with Apache Iceberg and with iceberg-lite. Only the configuration
 * of the session differs, and the results of all statements are the same.
 */
@Slow
class JobSuite extends AnyFunSuite with SharedSession {
  import ScenarioRunner.CatalogName

  private val job = SqlScenario.all(Paths.get("tests", "job")).filter(_.name == "life").head

  Seq(
    "iceberg-lite" -> (() => (SharedSession.liteExtensions, classOf[SparkCatalog].getName)),
    "Apache Iceberg" -> (() => (SharedSession.peerExtensions, SharedSession.PeerCatalog))
  ).foreach { case (engine, configuration) =>
    test(s"the script of a job runs unchanged with $engine") {
      val (session, catalogClass) = configuration()
      val ownSession = SharedSession.sessionWithCatalog(session, catalogClass, newDirectory("job"))
      new ScenarioRunner(ownSession).run(job, Map("catalog" -> CatalogName))
    }
  }
}
