package iceberglite.spark.sql

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.spark.rowlevel.StatementFixture

/** Checks the statistics of DESCRIBE EXTENDED of a column, also in comparison with Spark's own tables. */
class DescribeColumnStatisticsSuite extends AnyFunSuite with StatementFixture {
  private val columns = "i INT COMMENT 'a', l BIGINT, f DOUBLE, m DECIMAL(9, 2), d DATE, b BOOLEAN, s STRING, c CHAR(3)"

  private def described(table: String, column: String): Map[String, String] =
    rows(s"DESCRIBE EXTENDED $table $column").map(r => r.getString(0) -> r.getString(1)).toMap

  test("the statistics of columns equal those that Spark computes for its own table", Slow) {
    val own = newTable()
    val sparks = s"spark_catalog.default.${own.split('.').last}"
    Seq(own -> "iceberg", sparks -> "parquet").foreach { case (t, provider) =>
      sql(s"CREATE TABLE $t ($columns) USING $provider")
      sql(
        s"INSERT INTO $t SELECT id, if(id = 3, NULL, -id), id / 4, id * 1.25, date_add(DATE '2024-01-01', int(id)), " +
          "id % 2 = 0, CAST(id AS STRING), 'x' FROM range(20)"
      )
      sql(s"ANALYZE TABLE $t COMPUTE STATISTICS FOR ALL COLUMNS")
    }
    val ofText = Set("avg_col_len", "max_col_len")
    Seq("i", "l", "f", "m", "d", "b", "s", "c").foreach { column =>
      val (found, expected) = (described(own, column), described(sparks, column))
      val omitted = if (Set("s", "c")(column)) ofText else Set.empty[String]
      // Spark's distinct counts are estimates.
      val compared = expected.keySet -- omitted - "distinct_count"
      assert(found.keySet == expected.keySet, column)
      compared.foreach(key => assert(found(key) == expected(key), s"$key of $column"))
      val distinct = rows(s"SELECT count(DISTINCT $column) FROM $own").head.getLong(0)
      assert(found("distinct_count") == distinct.toString, column)
    }
    sql(s"DROP TABLE $sparks")
  }

  test("a statistic is not shown if a file lacks it, or if NaN values make it unknown") {
    val own = create("x DOUBLE, s STRUCT<y: INT>, t TIMESTAMP", 2, "merge-on-read")
    sql(
      s"INSERT INTO $own SELECT /*+ COALESCE(1) */ * FROM VALUES (1.0D, NULL, TIMESTAMP '2024-01-01 01:02:03'), " +
        "(double('NaN'), NULL, NULL)"
    )
    val x = described(own, "x")
    assert(x("min") == "1.0" && x("max") == "NULL" && x("num_nulls") == "0")
    assert(described(own, "t")("min") == "2024-01-01 01:02:03")
    assert(Seq("min", "num_nulls", "avg_col_len").map(described(own, "s")) == Seq("NULL", "NULL", "NULL"))
    sql(s"ALTER TABLE $own SET TBLPROPERTIES ('write.metadata.metrics.default' = 'none')")
    sql(s"INSERT INTO $own VALUES (0.0, NULL, NULL)")
    assert(Seq("min", "max", "num_nulls").map(described(own, "x")) == Seq("NULL", "NULL", "NULL"))
  }

  test("the statistics of a branch are those of its files") {
    val own = create("id INT", 2, "merge-on-read")
    sql(s"INSERT INTO $own VALUES (1)")
    sql(s"ALTER TABLE $own CREATE BRANCH work")
    sql(s"INSERT INTO $own.branch_work VALUES (5)")
    assert(described(own, "id")("max") == "1" && described(s"$own.branch_work", "id")("max") == "5")
  }
}
