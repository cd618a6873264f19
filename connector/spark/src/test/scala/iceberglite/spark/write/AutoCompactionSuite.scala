package iceberglite.spark.write

import java.nio.file.Files
import java.util.concurrent.{Callable, Executors, TimeUnit}

import scala.collection.JavaConverters._

import org.apache.spark.sql.SparkSession
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.spark.SharedSession

/** Checks automatic compaction after writes. */
class AutoCompactionSuite extends AnyFunSuite with CompactionFixture {
  override lazy val spark: SparkSession = SharedSession.liteExtensions

  /** Creates a table without a distribution of the written rows, so that each INSERT adds a file per task. */
  private def create(pairs: (String, String)*): String = {
    val t = newTable()
    sql(s"CREATE TABLE $t (id BIGINT, p INT) USING iceberg PARTITIONED BY (p) " +
      properties(("write.distribution-mode" -> "none") +: pairs))
    t
  }

  private def insert(t: String, id: Int, p: Int): Unit = {
    sql(s"INSERT INTO $t VALUES ($id, $p)")
    ()
  }

  private def filesIn(t: String, p: Int): Int = rows(s"SELECT * FROM $t.data_files WHERE partition.p = $p").size

  private def operations(t: String): Seq[String] =
    rows(s"SELECT operation FROM $t.snapshots ORDER BY committed_at").map(_.getString(0))

  private def ids(t: String): Seq[Long] = rows(s"SELECT id FROM $t ORDER BY id").map(_.getLong(0))

  test("a write combines the small files of the partitions that it has written to") {
    val t = create(enabled: _*)
    (1 to 3).foreach(insert(t, _, 1))
    (4 to 6).foreach(insert(t, _, 2))
    assert(filesIn(t, 1) == 3 && filesIn(t, 2) == 3)
    insert(t, 7, 1)
    assert(filesIn(t, 1) == 1 && filesIn(t, 2) == 3 && operations(t).takeRight(2) == Seq("append", "replace"))
    sql(s"REFRESH TABLE ${inApacheIceberg(t)}")
    assert(ids(t) == (1 to 7) && ids(inApacheIceberg(t)) == (1 to 7))
    assertNoOrphans(t)
  }

  test("automatic compaction is off by default, and an option overrides the property of the table", Slow) {
    val t = create()
    (1 to 5).foreach(insert(t, _, 1))
    assert(filesIn(t, 1) == 5)
    def append(pairs: (String, String)*): Unit =
      spark.sql("SELECT 9L AS id, 1 AS p").writeTo(t).options(pairs.toMap).append()
    append(enabled: _*)
    assert(filesIn(t, 1) == 1)
    sql(s"ALTER TABLE $t SET ${properties(enabled)}")
    (1 to 4).foreach(_ => append("iceberg-lite.auto-compact" -> "false"))
    assert(filesIn(t, 1) == 5 && rows(s"SELECT * FROM $t").size == 10)
  }

  test(
    "a compaction replaces at most max-files files and max-bytes bytes, or nothing if these are fewer than 4 files",
    Slow
  ) {
    val t = create(enabled :+ ("iceberg-lite.auto-compact.max-files" -> "3"): _*)
    (1 to 4).foreach(insert(t, _, 1))
    assert(filesIn(t, 1) == 4)
    sql(s"ALTER TABLE $t SET TBLPROPERTIES ('iceberg-lite.auto-compact.max-files' = '4')")
    insert(t, 5, 1)
    assert(filesIn(t, 1) == 2)
    sql(s"ALTER TABLE $t SET TBLPROPERTIES ('iceberg-lite.auto-compact.max-bytes' = '10')")
    (6 to 9).foreach(insert(t, _, 1))
    assert(filesIn(t, 1) == 6 && ids(t) == (1 to 9))
  }

  for (mode <- Seq("copy-on-write", "merge-on-read"); version <- Seq(2, 3))
    test(s"compaction after row changes keeps all rows, in version 3 also row ids (version $version, $mode)", Slow) {
      val modes = Seq("delete", "update", "merge").map(c => s"write.$c.mode" -> mode)
      val t = create(enabled ++ modes :+ ("format-version" -> version.toString): _*)
      val lineage = if (version == 3) ", _row_id" else ""
      (1 to 3).foreach(i => sql(s"INSERT INTO $t SELECT id, 1 FROM range(${i * 100}, ${i * 100 + 100}, 1, 1)"))
      sql(s"DELETE FROM $t WHERE id % 10 = 3")
      val before = rows(s"SELECT id$lineage FROM $t WHERE id < 400 ORDER BY id").map(_.toSeq)
      sql(s"INSERT INTO $t VALUES (1000, 1), (1001, 1)")
      sql(s"UPDATE $t SET id = id + 1 WHERE id >= 1000")
      sql(s"MERGE INTO $t USING (SELECT 5000L AS id, 1 AS p) s ON t.id = s.id WHEN NOT MATCHED THEN INSERT *"
        .replace("INTO " + t, s"INTO $t t"))
      (1 to 3).foreach(i => insert(t, 6000 + i, 1))
      assert(rows(s"SELECT id$lineage FROM $t WHERE id < 400 ORDER BY id").map(_.toSeq) == before)
      assert(ids(t).drop(before.size) == Seq(1001, 1002, 5000, 6001, 6002, 6003))
      assert(operations(t).contains("replace"))
      sql(s"REFRESH TABLE ${inApacheIceberg(t)}")
      assert(ids(inApacheIceberg(t)) == ids(t))
      assertNoOrphans(t)
    }

  test("a statement can request a compaction by an option") {
    val t = create("write.delete.mode" -> "merge-on-read", "format-version" -> "2")
    (1 to 5).foreach(i => sql(s"INSERT INTO $t SELECT id, 1 FROM range(${i * 10}, ${i * 10 + 10}, 1, 1)"))
    sql(s"DELETE FROM $t WITH (${enabled.map { case (k, v) => s"'$k' = '$v'" }.mkString(", ")}) WHERE id = 11")
    assert(filesIn(t, 1) == 1 && rows(s"SELECT * FROM $t").size == 49)
  }

  test("a write to a branch compacts the branch, and a staged write compacts nothing", Slow) {
    val t = create(enabled :+ ("write.wap.enabled" -> "true"): _*)
    (1 to 3).foreach(insert(t, _, 1))
    sql(s"ALTER TABLE $t CREATE BRANCH b")
    sql(s"INSERT INTO $t.branch_b VALUES (4, 1)")
    assert(filesIn(t, 1) == 3 && ids(t) == (1 to 3) && ids(s"$t.branch_b") == (1 to 4))
    assert(operations(t).last == "replace")
    withConf("spark.wap.id" -> "x")(insert(t, 5, 1))
    assert(operations(t).last == "append" && ids(t) == (1 to 3))
  }

  test("a write succeeds if the compaction after it cannot read a file, and the compaction leaves no new file", Slow) {
    val t = create(enabled: _*)
    (1 to 3).foreach(insert(t, _, 1))
    val files = rows(s"SELECT file_path FROM $t.files ORDER BY file_path").map(_.getString(0))
    val lost = dataFilesOf(t).find(path => files.head.endsWith(path.getFileName.toString)).get
    val moved = Files.move(lost, newDirectory().resolve("lost.parquet"))
    val warnings = compactionWarnings(insert(t, 4, 1))
    assert(warnings.size == 1 && warnings.head.contains(s"The write to $t has succeeded"), warnings)
    assert(filesIn(t, 1) == 4 && operations(t).count(_ == "replace") == 0)
    Files.move(moved, lost)
    assert(ids(t) == (1 to 4))
    assertNoOrphans(t)
  }

  test("concurrent writers with automatic compaction keep all rows and leave no unreferenced files", Slow) {
    val t = create(enabled ++ Seq("commit.retry.num-retries" -> "50", "commit.retry.min-wait-ms" -> "5"): _*)
    val pool = Executors.newFixedThreadPool(3)
    val writers = (0 until 3).map { writer =>
      val session = spark.newSession()
      new Callable[Unit] {
        override def call(): Unit =
          (0 until 5).foreach(i => session.sql(s"INSERT INTO $t VALUES (${writer * 100 + i}, 1)"))
      }
    }
    try pool.invokeAll(writers.asJava).asScala.foreach(_.get(60, TimeUnit.SECONDS))
    finally pool.shutdownNow()
    sql(s"REFRESH TABLE $t")
    assert(ids(t) == (for (writer <- 0 until 3; i <- 0 until 5) yield writer * 100L + i))
    assert(operations(t).count(_ == "append") == 15)
    assertNoOrphans(t)
  }

  test("invalid values of the compaction options are rejected before anything is written") {
    val t = create()
    for ((key, _) <- enabled; value <- Seq("perhaps", "-1")) assertUnchanged(t) {
      val frame = spark.sql("SELECT 1L AS id, 1 AS p").writeTo(t).option(key, value)
      assert(messages(intercept[Exception](frame.append())).contains(key))
    }
  }
}
