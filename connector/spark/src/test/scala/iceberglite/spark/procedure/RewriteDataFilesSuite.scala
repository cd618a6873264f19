package iceberglite.spark.procedure

import scala.util.Random

import org.apache.spark.sql.{AnalysisException, Row}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.Sampling
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.table.action.DeleteFiles

/** Tests `CALL rewrite_data_files`, and compares the results with Apache Iceberg. */
class RewriteDataFilesSuite extends AnyFunSuite with RewriteFixture {
  private val binPackings: Seq[Seq[String]] = Seq(
    Nil,
    Seq("options => map('rewrite-all', 'true')"),
    Seq("options => map('min-input-files', '2', 'target-file-size-bytes', '1000000')"),
    Seq("options => map('min-input-files', '20')"),
    Seq("options => map('min-input-files', '20', 'delete-file-threshold', '1')"),
    Seq("options => map('max-file-group-input-files', '2', 'min-input-files', '2')"),
    Seq("where => 'p = 1 AND id > 5'")
  )
  private val BinPackingsPerVersion = 3

  for (version <- Seq(1, 2, 3))
    test(s"bin-packing has the file counts of Apache Iceberg, and keeps all rows, version $version", Slow) {
      val sample =
        if (Sampling.isOff) binPackings
        else new Random(Sampling.seed + version).shuffle(binPackings).take(BinPackingsPerVersion)
      val skipped = binPackings.size - sample.size
      Sampling.recordSkipped(skipped, binPackings.size, s"arguments of rewrite_data_files, version $version")
      for (arguments <- sample) {
        val (ours, theirs) = (written(version), written(version))
        val before = contents(ours, version)
        val clue = arguments.mkString
        val planned = call(ours, arguments :+ "dry_run => true": _*)
        val result = call(ours, arguments: _*)
        sql(s"REFRESH TABLE ${inApacheIceberg(theirs)}")
        assert(counts(result) == counts(call(inApacheIceberg(theirs), arguments: _*)), clue)
        // A dry run cannot know which delete files will apply to no data file.
        assert((0 until 4).forall(i => planned.get(i) == result.get(i)))
        assert(planned.getSeq[Row](5) == result.getSeq[Row](5), clue)
        sql(s"REFRESH TABLE ${inApacheIceberg(ours)}")
        assert(contents(ours, version) == before && contents(inApacheIceberg(ours), version) == before, clue)
      }
    }

  private val values = Seq(
    "BOOLEAN" -> "id % 2 = 0",
    "INT" -> "-id",
    "FLOAT" -> "IF(id % 3 = 0, float('NaN'), id / 3)",
    "DOUBLE" -> "IF(id % 3 = 0, -0.0D, id / 7)",
    "DECIMAL(9, 2)" -> "-id / 100",
    "DECIMAL(18, 2)" -> "id * 1000000000 / 100",
    "DECIMAL(38, 10)" -> "-id / 7",
    "DATE" -> "date_add(date'1500-01-01', CAST(id * 100 AS INT))",
    "TIMESTAMP" -> "timestamp_seconds(-id * 1000000)",
    "TIMESTAMP_NTZ" -> "CAST(timestamp_seconds(id) AS TIMESTAMP_NTZ)",
    "STRING" -> "IF(id % 4 = 0, '', concat('\u00e9', id % 50))",
    "BINARY" -> "encode(id, 'UTF-8')",
    "STRUCT<a: INT, b: STRUCT<c: STRING>>" -> "named_struct('a', IF(id % 2 = 0, NULL, 1), 'b', named_struct('c', id))",
    "ARRAY<STRUCT<a: STRING>>" -> "transform(sequence(1, id % 3), i -> IF(i = 2, NULL, named_struct('a', i)))",
    "MAP<STRING, ARRAY<INT>>" -> "map('k', array(id, NULL), concat('l', id), NULL)"
  )

  for (format <- Seq("parquet", "orc", "avro"); version <- Seq(2, 3))
    test(
      s"bin-packing keeps nulls and values of all types in $format files, version $version",
      Sampling.slowInSomeRuns(isAlwaysRun = format == "parquet" && version == 3): _*
    ) {
      val definitions = values.zipWithIndex.map { case ((dataType, _), i) => s"c$i $dataType" }.mkString(", ")
      val properties = Seq("write.format.default" -> format, "write.distribution-mode" -> "none")
      val t = create(s"id BIGINT, $definitions", version, "merge-on-read", properties: _*)
      val row =
        values.map { case (dataType, value) => s"IF(id % 5 = 0, NULL, CAST($value AS $dataType))" }.mkString(", ")
      for (i <- 0 until 4) sql(s"INSERT INTO $t SELECT id, $row FROM range(${i * 300}, ${i * 300 + 300}, 1, 1)")
      sql(s"DELETE FROM $t WHERE id % 11 = 3")
      val before = contents(t, version)
      assert(counts(call(t, "options => map('min-input-files', '2')")).take(2) == Seq(4, 1))
      assert(contents(t, version) == before)
      sql(s"REFRESH TABLE ${inApacheIceberg(t)}")
      assert(rows(s"SELECT * FROM ${inApacheIceberg(t)} ORDER BY id") == rows(s"SELECT * FROM $t ORDER BY id"))
    }

  test("sorting and Z-ordering keep all rows, and a sort by columns orders the rows in the new file", Slow) {
    val orders = Seq("s DESC, id", "zorder(id, s)", "bucket(4, id), id DESC NULLS LAST")
    for ((version, order) <- Sampling.pairs(Seq(2, 3), orders, "versions and orders of a rewrite")) {
      val t = written(version, partitioned = false)
      val before = contents(t, version)
      val options = "options => map('rewrite-all', 'true', 'remove-dangling-deletes', 'true')"
      val result = call(t, s"sort_order => '$order'", options)
      assert(result.getInt(1) == 1 && contents(t, version) == before)
      val inFileOrder = rows(s"SELECT id FROM $t ORDER BY _pos").map(_.getLong(0))
      if (order.startsWith("s DESC")) assert(inFileOrder == inFileOrder.sorted)
      assert(count(s"$t.delete_files") == 0)
    }
  }

  test("the strategy sort uses the sort order of the table") {
    val t = written(2, partitioned = false)
    val error = intercept[AnalysisException](call(t, "strategy => 'sort'"))
    assert(messages(error).contains("WRITE ORDERED BY"))
    sql(s"ALTER TABLE $t WRITE ORDERED BY id DESC")
    call(t, "strategy => 'sort'", "options => map('rewrite-all', 'true')")
    assert(rows(s"SELECT id FROM $t ORDER BY _pos").map(_.getLong(0)) == (0 until 180).filter(_ % 7 != 1).reverse)
  }

  test("with partial progress, a rewrite makes several commits", Slow) {
    val t = written(2)
    val result = call(t, "options => map('partial-progress.enabled', 'true', 'rewrite-all', 'true')")
    assert(result.getInt(0) == 18 && result.getInt(1) == 3)
    assert(count(s"$t.snapshots", "operation = 'replace'") == 3)
  }

  test("a branch is rewritten, and main stays unchanged", Slow) {
    val t = written(2)
    sql(s"ALTER TABLE $t CREATE BRANCH b")
    val main = rows(s"SELECT file_path FROM $t.files ORDER BY 1")
    val result = call(t, "branch => 'b'", "options => map('rewrite-all', 'true')")
    assert(result.getInt(1) == 3 && rows(s"SELECT file_path FROM $t.files ORDER BY 1") == main)
    assert(rows(s"SELECT * FROM $t.branch_b ORDER BY id") == rows(s"SELECT * FROM $t ORDER BY id"))
  }

  test("the rows of files of an older partition spec are written with the current spec", Slow) {
    val t = written(3)
    sql(s"ALTER TABLE $t ADD PARTITION FIELD bucket(2, id)")
    val before = contents(t, 3)
    call(t, "options => map('rewrite-all', 'true')")
    assert(contents(t, 3) == before && rows(s"SELECT DISTINCT spec_id FROM $t.files").size == 1)
    assert(count(s"$t.files") == 6)
  }

  test(
    "a rewrite fails, leaves no file and restores no row if its files are deleted concurrently"
  ) {
    val t = written(2)
    val files = filesOf(t)
    val commits = commitWhenCalled(t)(table => table.transaction().add(new DeleteFiles(AlwaysTrue)).commit())
    sql(s"CREATE OR REPLACE TEMP VIEW x AS SELECT commit_and_return(1L)")
    val error =
      intercept[Exception](call(t, "sort_order => 'commit_and_return(id)'", "options => map('rewrite-all', 'true')"))
    assert(commits() == 1, messages(error))
    assert(count(t) == 0 && filesOf(t).filter(_.toString.contains("/data/")).subsetOf(files))
  }

  test("invalid arguments are rejected", Slow) {
    val t = written(2)
    for (
      (arguments, message) <- Seq(
        "options => map('rewrite-al', 'true')" -> "rewrite-all",
        "options => map('target-file-size-bytes', '0')" -> "target-file-size-bytes",
        "options => map('min-file-size-bytes', '9', 'target-file-size-bytes', '9')" -> "min-file-size-bytes",
        "options => map('output-spec-id', '7')" -> "output-spec-id",
        "options => map('min-input-files', '99999999999')" -> "min-input-files",
        s"where => 'id IN (SELECT id FROM $t)'" -> "subquery",
        "options => map('compression-factor', '2')" -> "strategy sort",
        "strategy => 'shuffle'" -> "binpack, sort",
        "strategy => 'binpack', sort_order => 'id'" -> "sort_order",
        "sort_order => 'zorder(id), p'" -> "zorder cannot be combined",
        "sort_order => 'id LIMIT 1'" -> "sort_order",
        "sort_order => 'nothing'" -> "nothing",
        "where => 'nothing = 1'" -> "nothing",
        "where => 'hash(s) = 5'" -> "No part of it"
      )
    ) {
      val error = intercept[AnalysisException](call(t, arguments))
      assert(messages(error).contains(message), s"$arguments: ${messages(error)}")
    }
  }
}
