package iceberglite.spark.read.partitioning

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.execution.datasources.v2.BatchScanExec
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.spark.SharedSession

/** Checks which files, row groups and rows of unpartitioned tables are skipped by the runtime filter of a join. */
class RuntimeFilterSuite extends AnyFunSuite with SharedSession with AdaptiveSparkPlanHelper {
  private val Pruning = "spark.sql.optimizer.dynamicPartitionPruning.enabled"
  private val Files = 8
  private val RowsPerFile = 50

  /**
   * A table whose files have disjoint ranges of `id`, and of the columns that are computed from `id`. The column
   * `anywhere` has all its values in every file.
   */
  private lazy val facts: String = {
    val name = newTable("facts")
    sql(
      s"""CREATE TABLE $name (id BIGINT, small INT, word STRING, day DATE, price DECIMAL(12, 2), at TIMESTAMP,
         |s STRUCT<k: BIGINT, x: INT>, anywhere INT) USING iceberg""".stripMargin
    )
    (0 until Files).foreach { i =>
      sql(
        s"""INSERT INTO $name SELECT /*+ COALESCE(1) */ IF(id % 10 = 9, NULL, id), int(id), format_string('%05d', id),
           |date_add(DATE'2024-01-01', int(id)), id + 0.25,
           |TIMESTAMP'2024-01-01 00:00:00' + make_interval(0, 0, 0, 0, int(id)),
           |IF(id % 10 = 8, NULL, named_struct('k', id, 'x', 1)), id % $RowsPerFile
           |FROM range(${i * RowsPerFile}, ${(i + 1) * RowsPerFile})""".stripMargin
      )
    }
    name
  }

  /**
   * A table with the keys of every 60th row of `facts`. Seven of the eight files of `facts` contain such a row. The row
   * with the tag `one` has a key that occurs in the third file of `facts`.
   */
  private lazy val dimension: String = {
    val name = newTable("dimension")
    sql(
      s"""CREATE TABLE $name USING iceberg AS SELECT id AS k, int(id) AS small, format_string('%05d', id) AS word,
         |date_add(DATE'2024-01-01', int(id)) AS day, CAST(id + 0.25 AS DECIMAL(12, 2)) AS price,
         |TIMESTAMP'2024-01-01 00:00:00' + make_interval(0, 0, 0, 0, int(id)) AS at, int(id % $RowsPerFile) AS anywhere,
         |IF(id = 120, 'one', 'other') AS tag FROM range(0, 400, 60)""".stripMargin
    )
    name
  }

  private def scanOf(table: String, df: DataFrame): BatchScanExec =
    collect(df.queryExecution.executedPlan) { case s: BatchScanExec => s }
      .filter(_.scan.description.contains(table)).last

  /**
   * Runs the query with and without runtime filters, and checks that both return the same rows.
   *
   * @return the scan of the table in the run with runtime filters, and the number of rows that this scan read
   */
  private def joined(query: String, table: String = facts): (BatchScanExec, Long) = {
    val df = sql(query)
    val rows = df.collect().map(_.toString).sorted.toSeq
    assert(rows.nonEmpty && rows == withConf(Pruning -> "false")(sorted(query)), query)
    val scan = scanOf(table, df)
    (scan, scan.metrics("numOutputRows").value)
  }

  private def assertSkipsFiles(query: String, table: String = facts, rows: Long = RowsPerFile.toLong): Unit = {
    val (scan, read) = joined(query, table)
    assert(scan.runtimeFilters.nonEmpty, query)
    assert(read == rows, query)
    val (skipped, toRead) = (scan.metrics("skippedDataFiles").value, scan.metrics("resultDataFiles").value)
    assert(skipped > 0 && toRead == rows / RowsPerFile, query)
  }

  test("the keys of a table of which only parts of variants are read skip files", Slow) {
    val variants = newTable("variants")
    sql(s"CREATE TABLE $variants (k BIGINT, v VARIANT) USING iceberg TBLPROPERTIES ('format-version' = '3')")
    sql(s"INSERT INTO $variants SELECT k, to_json(named_struct('tag', tag)) FROM $dimension")
    val tag = "lite.system.variant_get(d.v, '$.tag', 'string')"
    inSession(SharedSession.liteExtensions) { session =>
      val df = session.sql(s"SELECT f.id FROM $facts f JOIN $variants d ON f.id = d.k WHERE $tag = 'one'")
      assert(df.collect().map(_.getLong(0)).toSeq == Seq(120L))
      val scan = scanOf(facts, df)
      assert(scan.runtimeFilters.nonEmpty && scan.metrics("resultDataFiles").value == 1)
    }
  }

  test("files that cannot contain a join key are skipped, for several types of keys", Slow) {
    Seq("id" -> "k", "small" -> "small", "word" -> "word", "day" -> "day", "price" -> "price", "at" -> "at").foreach {
      case (column, key) =>
        assertSkipsFiles(
          s"SELECT f.id, d.tag FROM $facts f JOIN $dimension d ON f.$column = d.$key WHERE d.tag = 'one'"
        )
    }
    withConf("spark.sql.adaptive.enabled" -> "false") {
      assertSkipsFiles(s"SELECT f.id FROM $facts f JOIN $dimension d ON f.id = d.k WHERE d.tag = 'one'")
    }
  }

  test(
    "a join skips files even if its broadcast side has no filter, in which case Spark alone adds no runtime filter",
    Slow
  ) {
    val keys = "(VALUES (101L, 'a'), (120L, 'b'), (NULL, 'c')) AS d(k, tag)"
    assertSkipsFiles(s"SELECT f.id, d.tag FROM $facts f JOIN $keys ON f.id = d.k")
    assertSkipsFiles(
      s"SELECT f.id, d.tag FROM (SELECT id + 0 AS other, id FROM $facts WHERE small >= 0) f JOIN $keys ON f.id = d.k"
    )
    assertSkipsFiles(s"SELECT f.id FROM $facts f WHERE f.id IN (SELECT k FROM $keys)")
    assertSkipsFiles(s"SELECT f.id, d.tag FROM $keys JOIN $facts f ON f.id = d.k")
    Seq(s"$facts f JOIN $keys ON f.id <=> d.k", s"$facts f JOIN $keys ON f.small + 1 = d.k").foreach { sides =>
      assert(joined(s"SELECT f.id, d.tag FROM $sides")._2 == Files * RowsPerFile, sides)
    }
    withConf("spark.sql.adaptive.enabled" -> "false")(
      assertSkipsFiles(s"SELECT f.id FROM $facts f JOIN $keys ON f.id = d.k")
    )
    withConf("spark.sql.autoBroadcastJoinThreshold" -> "-1") {
      assert(joined(s"SELECT f.id FROM $facts f JOIN $keys ON f.id = d.k")._2 == Files * RowsPerFile)
    }
  }

  test(
    "runtime filters apply to nested keys, semi joins, and the side of an outer join that loses unmatched rows",
    Slow
  ) {
    assertSkipsFiles(s"SELECT f.id FROM $facts f JOIN $dimension d ON f.s.k = d.k WHERE d.tag = 'one'")
    assertSkipsFiles(s"SELECT f.id FROM $facts f WHERE f.id IN (SELECT k FROM $dimension WHERE tag = 'one')")
    val filteredDimension = s"(SELECT * FROM $dimension WHERE tag = 'one')"
    // Spark cannot broadcast the side of an outer join that keeps all its rows. For a runtime filter, Spark must
    // therefore evaluate this side twice, and does so only with these settings.
    withConf(
      "spark.sql.optimizer.dynamicPartitionPruning.reuseBroadcastOnly" -> "false",
      "spark.sql.optimizer.dynamicPartitionPruning.fallbackFilterRatio" -> "10"
    )(assertSkipsFiles(s"SELECT d.k, f.id FROM $facts f RIGHT JOIN $filteredDimension d ON f.id = d.k"))
    val outer = joined(s"SELECT f.id, d.k FROM $facts f LEFT JOIN $filteredDimension d ON f.id = d.k")
    assert(outer._1.runtimeFilters.isEmpty && outer._2 == Files * RowsPerFile)
  }

  test("a runtime filter skips files even with an unselective second key or a filter on the fact table", Slow) {
    val joinCondition = "f.id = d.k AND f.anywhere = d.anywhere"
    assertSkipsFiles(s"SELECT f.id FROM $facts f JOIN $dimension d ON $joinCondition WHERE d.tag = 'one'")
    assertSkipsFiles(s"SELECT f.id FROM $facts f JOIN $dimension d ON f.id = d.k WHERE d.tag = 'one' AND f.small < 300")
  }

  test("a column with all values in every file gets no runtime filter, because the filter would skip no file") {
    val query = s"SELECT f.id FROM $facts f JOIN $dimension d ON f.anywhere = d.anywhere WHERE d.tag = 'one'"
    val (scan, rows) = joined(query)
    assert(scan.runtimeFilters.isEmpty && rows == Files * RowsPerFile)
  }

  test("with thousands of join keys, files without any of the keys are skipped") {
    val largeDimension = newTable()
    val ids = "SELECT id + 1000000 AS k FROM range(5000) UNION ALL SELECT id FROM range(120, 170)"
    sql(s"CREATE TABLE $largeDimension USING iceberg AS SELECT k, 'x' AS tag FROM ($ids)")
    val query = s"SELECT /*+ BROADCAST(d) */ f.id FROM $facts f JOIN $largeDimension d ON f.id = d.k WHERE d.tag = 'x'"
    assertSkipsFiles(query, rows = 2L * RowsPerFile)
  }

  test("if the dimension table has many keys and no filter, no runtime filter is added, and all files are read") {
    val largeDimension = newTable()
    sql(s"CREATE TABLE $largeDimension USING iceberg AS SELECT id AS k FROM range(5000)")
    val (scan, rows) = joined(s"SELECT /*+ BROADCAST(d) */ f.id FROM $facts f JOIN $largeDimension d ON f.id = d.k")
    assert(scan.runtimeFilters.isEmpty && rows == Files * RowsPerFile)
  }

  test("with more than ten thousand join keys, files outside the range of the keys are skipped") {
    val largeDimension = newTable()
    val ids = "SELECT id + 350 AS k FROM range(12000)"
    sql(s"CREATE TABLE $largeDimension USING iceberg AS SELECT k, 'x' AS tag FROM ($ids)")
    val query = s"SELECT /*+ BROADCAST(d) */ f.id FROM $facts f JOIN $largeDimension d ON f.id = d.k WHERE d.tag = 'x'"
    assertSkipsFiles(query)
  }

  test("if no row of the dimension table satisfies the query, no rows of the fact table are read") {
    withConf("spark.sql.adaptive.enabled" -> "false") {
      val df = sql(s"SELECT f.id FROM $facts f JOIN $dimension d ON f.id = d.k WHERE d.tag LIKE '%none'")
      assert(df.collect().isEmpty)
      assert(scanOf(facts, df).metrics("numOutputRows").value == 0)
    }
  }

  test("runtime filters skip row groups within a file", Slow) {
    val sortedFile = newTable()
    sql(
      s"""CREATE TABLE $sortedFile (id BIGINT, v STRING) USING iceberg
         |TBLPROPERTIES ('write.parquet.row-group-size-bytes' = '65536')""".stripMargin
    )
    val rows = 40000
    Seq(0, rows).foreach { from =>
      val values = s"SELECT /*+ COALESCE(1) */ id, sha2(string(id), 256) FROM range($from, ${from + rows})"
      sql(s"INSERT INTO $sortedFile $values")
    }
    val query = s"SELECT f.v FROM $sortedFile f JOIN $dimension d ON f.id = d.k WHERE d.tag = 'one'"
    val (scan, read) = joined(query, sortedFile)
    assert(scan.runtimeFilters.nonEmpty && read < rows / 2)
  }

  test("runtime filters apply to renamed, widened and added columns", Slow) {
    val table = newTable()
    sql(s"CREATE TABLE $table (id INT, v INT) USING iceberg TBLPROPERTIES ('format-version' = '2')")
    def insert(from: Int): Unit =
      sql(s"INSERT INTO $table SELECT /*+ COALESCE(1) */ int(id), 1 FROM range($from, ${from + RowsPerFile})")
    Seq(0, RowsPerFile).foreach(insert)
    sql(s"ALTER TABLE $table ALTER COLUMN id TYPE BIGINT")
    sql(s"ALTER TABLE $table RENAME COLUMN id TO key")
    sql(s"ALTER TABLE $table ADD COLUMN late INT")
    sql(s"ALTER TABLE $table RENAME COLUMN v TO id")
    sql(
      s"""INSERT INTO $table SELECT /*+ COALESCE(1) */ id, 2, int(id) FROM range(${2 * RowsPerFile}, ${3 * RowsPerFile})
         |UNION ALL SELECT 5000000000, 3, 3""".stripMargin
    )
    assertSkipsFiles(s"SELECT * FROM $table f JOIN $dimension d ON f.key = d.k WHERE d.tag = 'one'", table)
    joined(s"SELECT * FROM $table f JOIN $dimension d ON f.late = d.small WHERE d.tag = 'one'", table)
    val shifted = s"(SELECT k + 5000000000 AS k FROM $dimension WHERE tag = 'other' AND k < 10)"
    joined(s"SELECT * FROM $table f JOIN $shifted d ON f.key = d.k", table)
  }
}
