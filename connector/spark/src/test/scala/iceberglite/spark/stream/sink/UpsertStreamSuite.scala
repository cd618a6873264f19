package iceberglite.spark.stream.sink

import scala.util.Random

import org.apache.iceberg.spark.Spark3Util
import org.apache.spark.sql.streaming.OutputMode
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.{InEveryRun, Sampling}

/** Checks in which form the micro-batches of streams with key columns delete the rows that they replace. */
class UpsertStreamSuite extends AnyFunSuite with EpochFixture {
  private val seed = sys.env.get("ICEBERG_LITE_SEED").fold(20240229L)(_.toLong)

  private def byId(options: (String, String)*): TestStream =
    new TestStream(OutputMode.Update(), Map("upsert-keys" -> "id") ++ options)

  private def newTableOf(version: Int, clauses: String = ""): String =
    tableWith("id BIGINT, p STRING", s"$clauses TBLPROPERTIES ('format-version' = '$version')")

  /** Returns the content, the format and the number of rows of each delete file. */
  private def deletes(t: String): Seq[String] =
    sorted(s"SELECT content, file_format, record_count FROM $t.delete_files")

  for ((version, clauses) <- Seq(2 -> "", 3 -> "", 2 -> "PARTITIONED BY (bucket(2, id))", 3 -> "PARTITIONED BY (p)"))
    test(
      s"in a small table, replaced rows are deleted by position, exactly once, in version $version $clauses",
      Sampling.slowUnless(version == 3 && clauses.isEmpty): _*
    ) {
      val t = newTableOf(version, clauses)
      val stream = byId()
      stream.into(t)(Seq(1L -> "a", 2L -> "a", 3L -> "a", 4L -> "a"), Seq(2L -> "a", 3L -> "b", 5L -> "b"))
      assert(read(t) == Seq("[1,a]", "[2,a]", "[3,b]", "[4,a]", "[5,b]"))
      stream.forgetCommit()
      assertUnchanged(t)(stream.into(t)())
      stream.into(t)(Seq(1L -> "c", 5L -> "c"), Seq(6L -> "c"))
      assert(read(t) == Seq("[1,c]", "[2,a]", "[3,b]", "[4,a]", "[5,c]", "[6,c]"))
      val format = if (version == 3) "PUFFIN" else "PARQUET"
      assert(deletes(t).nonEmpty && deletes(t).forall(_.startsWith(s"[1,$format,")), deletes(t))
      // The deletes of a data file are in one delete file, which replaces the earlier one.
      val deleted =
        rows(s"SELECT sum(record_count), count(DISTINCT referenced_data_file), count(*) FROM $t.delete_files")
      assert(deleted.map(_.toSeq) == Seq(Seq(4L, deletes(t).size.toLong, deletes(t).size.toLong)))
      assert(
        Spark3Util.loadIcebergTable(spark, inApacheIceberg(t)).specs.size == 1,
        "no partition spec must be added for the keys"
      )
      assertNoOrphans(t)
    }

  test(
    "rows are deleted by position if the files that may contain their keys fit upsert-search-bytes, else by key",
    Slow
  ) {
    val oneFile = (1 << 20).toString
    val t = newTableOf(3)
    Seq(1 -> 2, 11 -> 12).foreach { case (first, last) =>
      sql(s"INSERT INTO $t SELECT /*+ COALESCE(1) */ id, 'a' FROM VALUES ($first), ($last) AS t (id)")
    }
    byId("upsert-search-bytes" -> oneFile).into(t)(Seq(1L -> "b"))
    assert(deletes(t) == Seq("[1,PUFFIN,1]"))
    byId("upsert-search-bytes" -> oneFile).into(t)(Seq(2L -> "c", 11L -> "c"))
    assert(deletes(t).map(_.take(10)).distinct == Seq("[1,PUFFIN,", "[2,PARQUET"))
    assert(read(t) == Seq("[1,b]", "[11,c]", "[12,a]", "[2,c]"))
    val u = newTableOf(2, "PARTITIONED BY (bucket(8, id))")
    sql(s"INSERT INTO $u SELECT id, 'a' FROM range(40)")
    byId("upsert-search-bytes" -> oneFile).into(u)(Seq(20L -> "b"))
    assert(rows(s"SELECT * FROM $u.data_files").size > 4 && deletes(u) == Seq("[1,PARQUET,1]"))
    byId("upsert-search-bytes" -> "0").into(u)(Seq(20L -> "c"))
    assert(deletes(u) == Seq("[1,PARQUET,1]", "[2,PARQUET,1]"))
    assert(rows(s"SELECT p FROM $u WHERE id = 20").map(_.getString(0)) == Seq("c") && ids(u) == (0 until 40))
    Seq(t, u).foreach(assertNoOrphans(_))
  }

  test("a row with a null key replaces the row with a null key, by position and by an equality delete", Slow) {
    val noText = Option.empty[String].orNull
    for ((searched, expected) <- Seq("67108864" -> Seq("[1,PUFFIN,1]"), "0" -> Seq("[2,PARQUET,1]", "[2,PARQUET,2]"))) {
      val t = newTableOf(3)
      val stream =
        new TestStream(OutputMode.Update(), Map("upsert-keys" -> "p", "upsert-search-bytes" -> searched))
      stream.into(t)(Seq(1L -> "z", 2L -> noText), Seq(3L -> noText), Seq(4L -> "a"))
      assert(read(t) == Seq("[1,z]", "[3,null]", "[4,a]"), searched)
      assert(deletes(t).nonEmpty && deletes(t).forall(expected.contains), deletes(t))
    }
  }

  private val before = (0 until 6).map(i => s"[$i,0]")
  private val after = before.map(row => if (Set('1', '2', '3')(row(1))) row.replace(",0", ",9") else row)

  /**
   * A commit between the read and the commit of a micro-batch, the rows after both commits, and whether the micro-batch
   * deletes a row by key.
   */
  private val concurrentCommits: Seq[(String, String => Unit, Seq[String], Boolean)] = Seq(
    ("adds a row with a key", t => sql(s"INSERT INTO $t VALUES (1, 50)"), after, true),
    ("adds a row with another key", t => sql(s"INSERT INTO $t VALUES (100, 1)"), after :+ "[100,1]", false),
    (
      "compacts the files",
      t => sql(s"CALL lite.system.rewrite_data_files(table => '$t', options => map('rewrite-all', 'true'))"),
      after,
      true
    ),
    ("deletes a replaced row", t => sql(s"DELETE FROM $t WHERE id = 2"), after, true),
    ("deletes another row", t => sql(s"DELETE FROM $t WHERE id = 5"), after.dropRight(1), false),
    ("removes all rows", t => sql(s"TRUNCATE TABLE $t"), after.slice(1, 4), true)
  )

  for {
    ((what, concurrent, expected, isByKey), i) <- concurrentCommits.zipWithIndex
    isSearched <- Seq(false, true)
  }
    test(
      s"if another commit $what ${if (isSearched) "after" else "before"} the search of a micro-batch, both take effect",
      Sampling.slowUnless(isSearched && i < 3): _*
    ) {
      val t = tableWith(
        "id BIGINT, part BIGINT",
        "TBLPROPERTIES ('format-version' = '3', 'write.delete.mode' = 'merge-on-read')"
      )
      sql(s"INSERT INTO $t SELECT /*+ COALESCE(1) */ id, 0 FROM range(6)")
      def runBatch(beforeSearch: => Unit, afterSearch: => Unit): Unit = {
        val write = writeTo(new Steps(t, beforeCommit = afterSearch).table, "upsert-keys" -> "id")
        val messages = Array(put(writer(write, 7L), 1 to 3, _ => 9L))
        beforeSearch
        write.commit(0, messages)
        sql(s"REFRESH TABLE $t")
        ()
      }
      if (isSearched) runBatch((), concurrent(t)) else runBatch(concurrent(t), ())
      assert(read(t) == expected.sorted)
      assert(deletes(t).exists(_.startsWith("[2,")) == (isSearched && isByKey), deletes(t))
      assertNoOrphans(t)
      assertUnchanged(t)(runBatch((), ()))
    }

  test(
    "random upserts keep the last row of each key, with several values of upsert-search-bytes",
    Slow,
    InEveryRun
  ) {
    val random = new Random(seed)
    for (version <- Seq(2, 3); clauses <- Seq("", "PARTITIONED BY (p)")) {
      val t = newTableOf(version, clauses)
      var model = Map.empty[Long, String]
      (1 to 8).foreach { step =>
        val limit = Seq(0L, 2L << 20, 64L << 20)(random.nextInt(3))
        val changes = (1 to 6).map(_ => random.nextInt(12).toLong -> s"${"abc" (random.nextInt(3))}").toMap
        byId("upsert-search-bytes" -> limit.toString).into(t)(changes.toSeq)
        model ++= changes
        assert(read(t) == model.toSeq.map { case (id, p) => s"[$id,$p]" }.sorted, s"version $version, step $step")
        random.nextInt(4) match {
          case 0 => sql(s"CALL lite.system.rewrite_data_files(table => '$t', options => map('rewrite-all', 'true'))")
          case 1 => sql(s"CALL lite.system.convert_equality_deletes('$t')")
          case 2 => sql(s"CALL lite.system.rewrite_position_delete_files(table => '$t')")
          case _ => ()
        }
      }
      assertNoOrphans(t)
    }
  }
}
