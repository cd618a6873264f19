package iceberglite.processes

import java.nio.file.Files

import scala.util.Random

import org.apache.hadoop.conf.Configuration
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tags.Slow

import iceberglite.catalog.{Catalogs, ViewCatalog, ViewOperations}
import iceberglite.processes.Writers.Id
import iceberglite.storage.HadoopFileIO

/**
 * Runs several processes that replace one view of a file-system catalog concurrently. Some processes halt at a step of
 * a commit, and some are killed; the seed determines when. The suite checks that the view has all acknowledged
 * versions, and that it can still be changed and dropped.
 */
@Slow
class KilledViewWritersSuite extends AnyFunSuite {
  private val seed = sys.env.get("ICEBERG_LITE_SEED").fold(20240229L)(_.toLong)
  private val writers = 8

  private val properties = Map(
    "commit.retry.num-retries" -> "1000",
    "commit.retry.min-wait-ms" -> "2",
    "version.history.num-entries" -> "1000"
  )

  test(s"no acknowledged version of a view is lost when other writers are killed (seed $seed)") {
    val directory = Files.createTempDirectory("killed-view-writers")
    try {
      val settings = Map("type" -> "hadoop", "warehouse" -> s"file://$directory/wh")
      val catalog = ViewWriterProcess.open(Catalogs.open("lite", settings, Writers.storage(settings)))
      catalog.createNamespace(Id.namespace, Map.empty)
      val views = new ViewOperations(catalog)
      views.create(Id, ViewWriterProcess.define("initial"), properties, None)
      val all = new Writers(settings, directory, new Random(seed), ViewWriterProcess.getClass.getName.stripSuffix("$"))
        .run(count = writers, commits = 8)
      assert(all.count(_.died) * 2 >= writers, "too few writers died")
      checkVersions(all, catalog)
      views.replace(Id, ViewWriterProcess.define("afterwards"), Map.empty)
      assert(catalog.loadView(Id).metadata.currentVersion.sql("spark").contains("afterwards"))
      assert(catalog.dropView(Id) && !catalog.viewExists(Id))
      catalog.close()
    } finally new HadoopFileIO(new Configuration(false)).deleteDirectory(directory.toString)
  }

  private def checkVersions(all: Vector[WriterOutput], catalog: ViewCatalog): Unit = {
    val view = catalog.loadView(Id).metadata
    val queries = view.versions.flatMap(_.sql("spark"))
    assert(queries.distinct == queries, "the view has a version twice")
    assert((all.flatMap(_.done).toSet -- queries).isEmpty, "acknowledged versions are missing")
    assert((all.flatMap(_.failed).toSet & queries.toSet).isEmpty, "versions reported as failed are in the view")
    assert((queries.toSet -- all.flatMap(_.begun) - "initial").isEmpty)
    assert(view.versions.map(_.versionId) == (1 to queries.size).toVector)
    assert(view.versionLog.map(_.versionId) == view.versions.map(_.versionId))
    all.filterNot(_.died).foreach(output => assert(output.begun == output.done ++ output.failed, output.writer))
  }
}
