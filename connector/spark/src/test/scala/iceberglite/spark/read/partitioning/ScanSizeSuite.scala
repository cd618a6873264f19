package iceberglite.spark.read.partitioning

import org.apache.spark.sql.catalyst.plans.logical.Statistics
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.execution.joins.BroadcastHashJoinExec
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.spark.read.planning.DeclaredFiles

/** Checks the estimated sizes of scans. Spark chooses broadcast joins by these sizes. */
class ScanSizeSuite extends AnyFunSuite with DeclaredFiles with AdaptiveSparkPlanHelper {
  private val Cbo = "spark.sql.cbo.enabled"
  private val MB = 1L << 20

  private def statistics(query: String): Statistics = {
    val df = sql(query)
    df.queryExecution.optimizedPlan.collectLeaves().head.stats
  }

  private def size(query: String): BigInt = statistics(query).sizeInBytes

  private def broadcasts(query: String): Int =
    collect(sql(query).queryExecution.executedPlan) { case j: BroadcastHashJoinExec => j }.size

  // A column with the same value in all rows takes almost no bytes in a Parquet file, but 16 bytes per row in memory.
  test("a table with 10^8 rows of a constant column is not broadcast, although its file is small") {
    val (constant, large) = (newTable(), newTable())
    Seq(constant, large).foreach(t => sql(s"CREATE TABLE ${inApacheIceberg(t)} (k BIGINT) USING iceberg"))
    append(constant, t => Seq(dataFile(t, bytes = 100000, rows = 100000000L)))
    append(large, t => (1 to 3).map(_ => dataFile(t, bytes = 900 * MB, rows = 1000000000L)))
    def join(a: String, b: String) = s"SELECT b.k FROM $b b JOIN $a a ON a.k = b.k"
    assert(broadcasts(join(inApacheIceberg(constant), inApacheIceberg(large))) == 0)
    assert(broadcasts(join(constant, large)) == 0)
    assert(broadcasts(s"SELECT k FROM $large WHERE k IN (SELECT k FROM $constant WHERE k > 0)") == 0)
    assert(size(s"SELECT k FROM $constant") == BigInt(800000000L))
  }

  private lazy val tableOfAllTypes: String = {
    val table = newTable("typed")
    sql(
      s"""CREATE TABLE ${inApacheIceberg(
          table
        )} (b BOOLEAN, i INT, l BIGINT, f FLOAT, d DOUBLE, m DECIMAL(30, 2), dt DATE,
         |ts TIMESTAMP, s STRING, x BINARY, st STRUCT<a: INT, b: STRING>, ar ARRAY<INT>, mp MAP<STRING, INT>, p INT)
         |USING iceberg PARTITIONED BY (p)""".stripMargin
    )
    (0 until 2).foreach { batch =>
      sql(
        s"""INSERT INTO ${inApacheIceberg(
            table
          )} SELECT id % 2 = 0, int(id), id, float(id), double(id), cast(id AS DECIMAL(30, 2)),
           |date_add(DATE'2024-01-01', int(id % 9)), TIMESTAMP'2024-01-01 00:00:00', concat('s', id), X'0102',
           |named_struct('a', int(id), 'b', 'text'), array(int(id)), map('k', int(id)), int(id % 4)
           |FROM range(${batch * 2000}, ${batch * 2000 + 2000})""".stripMargin
      )
    }
    table
  }

  private val projections = Seq("*", "b", "i", "l", "i, s", "m, dt, ts", "x, st", "st.a", "ar, mp", "f, d, l, b", "p")
  private val filters = Seq("", "WHERE p = 1", "WHERE l < 1500", "WHERE l > 100000", "WHERE p = 1 AND l < 2000")

  test("sizes are the same as in Apache Iceberg for several columns and filters, except for unread columns", Slow) {
    for (cbo <- Seq("false", "true"); projection <- projections; filter <- filters) withConf(Cbo -> cbo) {
      def leaf(table: String) =
        sql(s"SELECT $projection FROM $table $filter").queryExecution.optimizedPlan.collectLeaves().head
      val (liteLeaf, peerLeaf) = (leaf(tableOfAllTypes), leaf(inApacheIceberg(tableOfAllTypes)))
      // Apache Iceberg also reads columns that occur only in filters, even if the filters are not evaluated on rows.
      val unread = peerLeaf.output.map(_.dataType.defaultSize).sum - liteLeaf.output.map(_.dataType.defaultSize).sum
      val expected = peerLeaf.stats.sizeInBytes - peerLeaf.stats.rowCount.get * unread
      assert(liteLeaf.stats.rowCount == peerLeaf.stats.rowCount, s"$projection $filter")
      assert(
        liteLeaf.stats.sizeInBytes == expected.max(1) && (unread == 0 || filter.contains("p = 1")),
        s"$projection $filter"
      )
    }
  }

  test("sizes are the same as in Apache Iceberg for unpartitioned and empty tables, and exclude deleted rows") {
    val table = newTable()
    sql(
      s"CREATE TABLE ${inApacheIceberg(table)} (id BIGINT, s STRING) USING iceberg TBLPROPERTIES " +
        "('format-version' = '3')"
    )
    def assertSameSize(): Unit = {
      sql(s"REFRESH TABLE $table")
      assert(size(s"SELECT * FROM $table") == size(s"SELECT * FROM ${inApacheIceberg(table)}").max(1))
    }
    assertSameSize()
    sql(s"INSERT INTO ${inApacheIceberg(table)} SELECT /*+ COALESCE(1) */ id, concat('s', id) FROM range(10000)")
    assertSameSize()
    val file = loaded(table).newScan.planFiles().iterator.next().file
    addDeletes(table, t => Seq(deletionVector(t, file, 4000)))
    sql(s"REFRESH TABLE $table")
    assert(size(s"SELECT * FROM $table") == BigInt(6000 * 28) && size(
      s"SELECT * FROM ${inApacheIceberg(table)}"
    ) >= 6000 * 28)
  }

  test("estimated sizes of very large tables do not overflow") {
    val table = newTable()
    sql(s"CREATE TABLE ${inApacheIceberg(table)} (k BIGINT) USING iceberg")
    append(table, t => (1 to 3).map(_ => dataFile(t, bytes = 900 * MB, rows = Long.MaxValue / 4)))
    assert(size(s"SELECT k FROM $table") == BigInt(Long.MaxValue))
  }

  test("a scan that selects no columns has a size in proportion to the rows") {
    val table = declaredTable(partitioned = false)
    append(table, t => Seq(dataFile(t, bytes = 100000, rows = 100000000L)))
    assert(size(s"SELECT count(*) FROM (SELECT 1 FROM $table) a CROSS JOIN (SELECT 1 FROM $table) b") >= 800000000L)
  }

  test("for values longer than Spark's default size, the estimate uses their size in the files", Slow) {
    val table = newTable()
    sql(s"CREATE TABLE $table (id INT, s STRING, a ARRAY<BINARY>) USING iceberg")
    val long = "array_join(transform(sequence(1, 1500), x -> sha2(concat(id, '-', x), 256)), '')"
    sql(s"INSERT INTO $table SELECT int(id), $long, array(cast(id AS BINARY)) FROM range(300)")
    for (cbo <- Seq("false", "true")) withConf(Cbo -> cbo) {
      assert(size(s"SELECT * FROM $table") > 12 * MB)
      assert(size(s"SELECT s FROM $table WHERE id >= 0") > 12 * MB)
      assert(size(s"SELECT id FROM $table") == BigInt(1200))
      assert(broadcasts(s"SELECT a.s, b.s FROM $table a JOIN $table b ON a.id = b.id") == 0)
    }
  }

  test("the row count of a scan with a limit is the row count of the files that the scan reads") {
    val table = declaredTable(partitioned = false)
    append(table, t => (1 to 50).map(_ => dataFile(t, bytes = MB, rows = 1000)))
    assert(statistics(s"SELECT * FROM $table LIMIT 1500").rowCount.contains(BigInt(2000)))
  }

  test("scans of change tables and metadata tables, and aggregates answered from metadata, have estimated sizes") {
    val table = newTable()
    sql(s"CREATE TABLE $table (id BIGINT, p INT) USING iceberg PARTITIONED BY (p)")
    sql(s"INSERT INTO $table SELECT id, int(id % 4) FROM range(1000)")
    assert(size(s"SELECT id FROM $table.changes") == BigInt(8000))
    val files = statistics(s"SELECT record_count, file_size_in_bytes FROM $table.files")
    assert(files.sizeInBytes == BigInt(64) && files.rowCount.contains(BigInt(4)))
    val groups = statistics(s"SELECT p, count(*) FROM $table GROUP BY p")
    assert(groups.sizeInBytes == BigInt(48) && groups.rowCount.contains(BigInt(4)))
    assert(broadcasts(s"SELECT * FROM $table t JOIN $table.snapshots s ON t.id = s.snapshot_id") == 1)
  }
}
