package iceberglite.processes

import java.nio.file.{Files, Path}

import scala.util.Random

import org.apache.hadoop.conf.Configuration
import org.scalatest.Tag
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.Sampling
import iceberglite.catalog.{Catalog, Catalogs}
import iceberglite.processes.Writers.Id
import iceberglite.servers.Servers
import iceberglite.storage.HadoopFileIO
import iceberglite.table.{Table, TableCreation, TestTables}
import iceberglite.table.action.FastAppend

/**
 * Runs several processes that write to one table concurrently. Some processes halt at a step of a commit, and some are
 * killed during a commit; the seed determines when. The suite checks that the table contains all acknowledged commits
 * and that it can still be written to.
 */
class KilledWritersSuite extends AnyFunSuite {
  private val seed = sys.env.get("ICEBERG_LITE_SEED").fold(20240229L)(_.toLong)
  private val manyRetries = Map("commit.retry.num-retries" -> "1000", "commit.retry.min-wait-ms" -> "2")

  /** The number of writers. By the plans of [[Writers]], six of eight writers die, and all of four writers. */
  private val writers = if (Sampling.isFast) 4 else 8

  /**
   * Returns no tag for the file-system catalog, and the tags of a slow test for other catalogs. Most runs of the slow
   * tier omit the test (see [[Sampling]]).
   */
  private def slow(kind: String): Seq[Tag] = Sampling.slowInSomeRunsUnless(kind == "files")

  private def withDirectory(body: Path => Unit): Unit = {
    val directory = Files.createTempDirectory("killed-writers")
    try body(directory)
    finally new HadoopFileIO(new Configuration(false)).deleteDirectory(directory.toString)
  }

  private def check(kind: String, settings: Path => Map[String, String]): Unit =
    test(s"no acknowledged commit is lost when other writers are killed: $kind (seed $seed)", slow(kind): _*) {
      withDirectory { directory =>
        val properties = settings(directory)
        val catalog = Catalogs.open("lite", properties, Writers.storage(properties))
        try {
          catalog.createNamespace(Id.namespace, Map.empty)
          catalog.create(Id, TableCreation(TestTables.schema, properties = manyRetries))
          val all = new Writers(properties, directory, new Random(seed)).run(count = writers, commits = 8)
          assert(all.count(_.died) * 2 >= writers, "too few writers died")
          checkOutcome(all, catalog)
        } finally catalog.close()
      }
    }

  private def checkOutcome(all: Vector[WriterOutput], catalog: Catalog): Unit = {
    val table = catalog.table(Id)
    val live = TestTables.liveFiles(table)
    assert(live.distinct == live, "the table lists a file twice")
    val lost = all.flatMap(_.done).toSet -- live
    assert(lost.isEmpty, "acknowledged commits are missing")
    assert((all.flatMap(_.failed).toSet & live.toSet).isEmpty, "commits reported as failed are in the table")
    assert((live.toSet -- all.flatMap(_.begun)).isEmpty)
    all.filterNot(_.died).foreach(output => assert(output.begun == output.done ++ output.failed, output.writer))
    checkHistory(table)
    checkUnreferencedFiles(table, all)
    val next = table.transaction().add(new FastAppend(Vector(TestTables.file("afterwards")))).commit()
    assert(TestTables.liveFiles(catalog.table(Id)) == (live :+ "afterwards").sorted)
    assert(next.metadata.snapshots.size == table.metadata.snapshots.size + 1)
  }

  private def checkHistory(table: Table): Unit = {
    val snapshots = table.metadata.snapshots
    val chain = table.metadata.ancestors(table.currentSnapshot.get).toVector
    assert(chain.map(_.snapshotId).toSet == snapshots.map(_.snapshotId).toSet, "the history forked")
    assert(chain.map(_.sequenceNumber) == chain.indices.map(i => (chain.size - i).toLong))
    assert(snapshots.size == TestTables.liveFiles(table).size)
    assert(table.currentSnapshot.get.summary("total-records") == (snapshots.size * 10).toString)
  }

  /** Checks that every unreferenced file was left by a writer that died, and that every referenced file exists. */
  private def checkUnreferencedFiles(table: Table, all: Vector[WriterOutput]): Unit = {
    val needed = TestTables.reachable(table.io, table.version)
    val writtenByDead = all.filter(_.died).flatMap(_.written).toSet
    val orphans = all.flatMap(_.written).toSet.filter(table.io.exists) -- needed
    assert((orphans -- writtenByDead).isEmpty, "a surviving writer left unreferenced files")
    assert(needed.filterNot(table.io.exists).isEmpty, "referenced files are missing")
  }

  check("files", directory => Map("type" -> "hadoop", "warehouse" -> s"file://$directory/wh"))

  check(
    "jdbc on SQLite",
    directory =>
      Map("type" -> "jdbc", "uri" -> s"jdbc:sqlite:$directory/catalog.db", "warehouse" -> s"file://$directory/wh")
  )

  check(
    "jdbc on PostgreSQL",
    { directory =>
      val database = Servers.postgres.newDatabase()
      Map(
        "type" -> "jdbc",
        "uri" -> database.url,
        "jdbc.user" -> database.user,
        "jdbc.password" -> database.password,
        "warehouse" -> s"file://$directory/wh"
      )
    }
  )

  check("rest", _ => Map("type" -> "rest", "uri" -> Servers.rest.uri))

  check(
    "hive",
    _ =>
      Map(
        "type" -> "hive",
        "uri" -> Servers.hive.uri,
        "warehouse" -> Servers.hive.warehouse,
        "hadoop.iceberg.hive.lock-check-max-wait-ms" -> "200"
      )
  )

  check(
    "files on S3",
    { _ =>
      val server = Servers.s3
      Map(
        "type" -> "hadoop",
        "warehouse" -> s"s3a://${server.newBucket()}/wh",
        "hadoop.fs.s3a.endpoint" -> server.endpoint,
        "hadoop.fs.s3a.path.style.access" -> "true",
        "hadoop.fs.s3a.access.key" -> server.accessKey,
        "hadoop.fs.s3a.secret.key" -> server.secretKey
      )
    }
  )
}
