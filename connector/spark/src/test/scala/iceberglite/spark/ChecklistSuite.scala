package iceberglite.spark

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path, Paths}

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

/**
 * Runs the statements of Apache Iceberg's documentation, which are in `tests/documented`, and checks that
 * `docs/spark-checklist.md` lists them. If the environment variable `UPDATE` is `1`, the suite replaces the lists
 * instead.
 */
class ChecklistSuite extends AnyFunSuite with SharedSession {
  import ScenarioRunner.CatalogName

  private val page: Path = Paths.get("docs", "spark-checklist.md")
  private val isUpdate = sys.env.get("UPDATE").contains("1")
  private val scenarios = SqlScenario.all(Paths.get("tests", "documented"))

  private def text: String = new String(Files.readAllBytes(page), UTF_8)

  /** Returns the statements of a scenario, except those that only set a variable, with `<name>` for each variable. */
  private def rendered(scenario: SqlScenario): String =
    scenario.steps.filterNot(_.expected.isInstanceOf[SqlStep.Variable]).map { step =>
      val statement =
        step.statement.replace(ScenarioRunner.placeholder("catalog"), "prod").replaceAll("\\$\\{(\\w+)}", "<$1>")
      step.expected match {
        case SqlStep.Failure(message) => s"-- fails: $message\n$statement;"
        case _ => s"$statement;"
      }
    }.mkString("\n```sql\n", "\n\n", "\n```\n")

  scenarios.foreach { scenario =>
    test(s"the documented statements of ${scenario.name} have the expected results", Slow) {
      val session = SharedSession
        .sessionWithCatalog(SharedSession.liteExtensions, classOf[SparkCatalog].getName, newDirectory("documented"))
      // The migration of tables needs a session catalog of the connector.
      val settings = Seq("type" -> "jdbc", "uri" -> s"jdbc:sqlite:${newDirectory("documented")}/catalog.db")
      SharedSession.catalogConf(
        "spark_catalog",
        classOf[SparkSessionCatalog].getName,
        settings :+ ("warehouse" -> newDirectory("documented").toUri.toString): _*
      ).foreach { case (key, value) => session.conf.set(key, value) }
      session.sql(s"USE $CatalogName.db")
      new ScenarioRunner(session).run(
        scenario,
        Map("catalog" -> CatalogName, "directory" -> newDirectory("documented").toUri.toString.stripSuffix("/"))
      )
    }

    test(s"the checklist in docs/spark-checklist.md has the statements of ${scenario.name}") {
      val (before, begin) = (text, s"<!-- begin: ${scenario.name} -->")
      val markerStart = before.indexOf(begin)
      assert(markerStart >= 0, s"$page has no line $begin")
      val (start, end) = (markerStart + begin.length, before.indexOf("<!-- end -->", markerStart))
      assert(end > 0, s"$page has no end marker after $begin")
      val list = rendered(scenario)
      if (isUpdate) Files.write(page, (before.take(start) + list + before.drop(end)).getBytes(UTF_8))
      else assert(before.substring(start, end) == list, s"\n$page is out of date: run this suite with UPDATE=1")
    }
  }
}
