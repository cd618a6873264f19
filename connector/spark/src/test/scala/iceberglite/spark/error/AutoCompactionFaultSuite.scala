package iceberglite.spark.error

import scala.util.Try

import org.apache.spark.sql.SparkSession
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.{FilesBelow, Sampling}
import iceberglite.spark.{SharedSession, SparkCatalog}

/** Checks that a write succeeds if storage calls fail during the compaction that follows it. */
class AutoCompactionFaultSuite extends AnyFunSuite with SharedSession {
  override lazy val spark: SparkSession = SharedSession.liteExtensions

  private lazy val root = newDirectory()

  private lazy val session: SparkSession = {
    val created = spark.newSession()
    val settings = Seq(
      "type" -> "hadoop",
      "warehouse" -> s"ofs://wh$root",
      "hadoop.fs.ofs.impl" -> classOf[FaultyFileSystem].getName,
      "io.manifest.cache-enabled" -> "false"
    )
    SharedSession.catalogConf("compacted", classOf[SparkCatalog].getName, settings: _*).foreach { case (key, value) =>
      created.conf.set(key, value)
    }
    created.conf.set("fs.ofs.impl", classOf[FaultyFileSystem].getName)
    created.sql("CREATE NAMESPACE compacted.db")
    created
  }

  /** Creates a table with three small files. The next insert compacts them. */
  private def create(): String = inSession(session) { s =>
    val name = s"t_${SharedSession.counter.incrementAndGet()}"
    s.sql(s"CREATE TABLE compacted.db.$name (id BIGINT) USING iceberg TBLPROPERTIES (" +
      "'iceberg-lite.auto-compact.min-input-files' = '4', 'commit.status-check.num-retries' = '1', " +
      "'commit.status-check.min-wait-ms' = '1')")
    (1 to 3).foreach(i => s.sql(s"INSERT INTO compacted.db.$name VALUES ($i)"))
    name
  }

  private def insert(name: String, compacts: Boolean, fault: Fault, callNumber: Int): (Option[Throwable], Int) =
    inSession(session) { s =>
      val rows = s.sql("SELECT 4L AS id").writeTo(s"compacted.db.$name")
        .option("iceberg-lite.auto-compact", compacts.toString)
      FaultyFileSystem.arm(fault, callNumber)
      val error = Try(rows.append()).failed.toOption
      (error, FaultyFileSystem.disarm())
    }

  private def check(name: String, clue: String): Unit = inSession(session) { s =>
    s.sql(s"REFRESH TABLE compacted.db.$name")
    assert(s.sql(s"SELECT id FROM compacted.db.$name ORDER BY id").collect().map(_.getLong(0)).toSeq == (1 to 4), clue)
    ()
  }

  private def unlisted(name: String): Set[String] = inSession(session) { s =>
    val listed = s.sql(s"SELECT file_path FROM compacted.db.$name.all_files").collect()
      .map(_.getString(0).split('/').last).toSet
    val files = FilesBelow.withoutHints(root.resolve("db").resolve(name)).map(_.getFileName.toString)
    files.filter(file => file.endsWith(".parquet") && !file.startsWith(".")) -- listed
  }

  test("if any storage call fails during a compaction, the write succeeds and leaves no unreferenced data file", Slow) {
    val (_, writeCalls) = insert(create(), compacts = false, Fault.Refused, Int.MaxValue)
    val (error, totalCalls) = insert(create(), compacts = true, Fault.Refused, Int.MaxValue)
    assert(error.isEmpty && totalCalls > writeCalls + 5)
    for (
      (fault, step) <- Seq(Fault.Refused -> 1, Fault.AnswerLost -> 3);
      call <- Sampling.half(writeCalls + 1 to totalCalls by step, s"$fault of the calls of a compaction")
    ) {
      val name = create()
      val clue = s"$fault at call $call of $totalCalls, of which $writeCalls belong to the write"
      val (failure, _) = insert(name, compacts = true, fault, call)
      assert(failure.isEmpty, clue)
      check(name, clue)
      assert(unlisted(name).isEmpty, clue)
    }
  }

  test("an outage during a compaction does not fail the write", Slow) {
    val (_, writeCalls) = insert(create(), compacts = false, Fault.Refused, Int.MaxValue)
    val (_, totalCalls) = insert(create(), compacts = true, Fault.Refused, Int.MaxValue)
    for (call <- writeCalls + 1 to totalCalls by 3) {
      val name = create()
      val (failure, _) = insert(name, compacts = true, Fault.Outage, call)
      assert(failure.isEmpty, s"call $call")
      check(name, s"call $call")
    }
  }
}
