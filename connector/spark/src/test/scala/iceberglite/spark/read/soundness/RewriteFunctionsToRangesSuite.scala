package iceberglite.spark.read.soundness

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan}
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2ScanRelation
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.spark.SharedSession

/** Checks that conditions on functions of columns skip files, and are evaluated on rows only if necessary. */
class RewriteFunctionsToRangesSuite extends AnyFunSuite with SharedSession {

  private def planOf(query: DataFrame): LogicalPlan = query.queryExecution.optimizedPlan

  /** Returns the number of files that a query reads; 0 if its scan was removed from the plan. */
  private def files(query: DataFrame): Int = planOf(query).collectLeaves().collect { case r: DataSourceV2ScanRelation =>
    """files=(\d+)""".r.findFirstMatchIn(r.scan.description).get.group(1).toInt
  }.sum

  private def hasFilter(query: DataFrame): Boolean = planOf(query).exists(_.isInstanceOf[Filter])

  /** A table with one file per UTC day from 2024-02-26 to 2024-03-06, and a row for each hour. */
  private lazy val hours: String = {
    val table = newTable()
    sql(
      s"""CREATE TABLE $table (ts timestamp, ntz timestamp_ntz, d date, s string, n struct<ts: timestamp>) USING iceberg
         |PARTITIONED BY (days(ts))""".stripMargin
    )
    sql(
      s"""INSERT INTO $table SELECT t, CAST(t AS TIMESTAMP_NTZ), CAST(t AS DATE), date_format(t, 'yyyyMMdd'),
         |named_struct('ts', t) FROM (SELECT TIMESTAMP '2024-02-26 00:00:00Z' + make_interval(0, 0, 0, 0, id) AS t
         |FROM range(240))""".stripMargin
    )
    table
  }

  /** @return the number of files read, the number of rows returned, and whether Spark evaluates a filter on the rows */
  private def outcome(condition: String): (Int, Int, Boolean) = {
    val query = sql(s"SELECT * FROM $hours WHERE $condition")
    (files(query), query.collect().length, hasFilter(query))
  }

  test(
    "a comparison of date_trunc becomes a range, which is not evaluated on rows if it covers whole partitions",
    Slow
  ) {
    assert(outcome("date_trunc('DAY', ts) = TIMESTAMP '2024-02-29'") == ((1, 24, false)))
    assert(outcome("date_trunc('month', ts) = TIMESTAMP '2024-03-01'") == ((6, 144, false)))
    assert(outcome("date_trunc('month', ts) < TIMESTAMP '2024-03-01'") == ((4, 96, false)))
    assert(outcome("TIMESTAMP '2024-03-01' > date_trunc('month', ts)") == ((4, 96, false)))
    assert(outcome("NOT (date_trunc('DAY', ts) = TIMESTAMP '2024-02-29')") == ((9, 216, false)))
    assert(outcome("date_trunc('hour', ts) = TIMESTAMP '2024-02-29 05:00:00'") == ((1, 1, true)))
    assert(outcome("date_trunc('DAY', ts) IN (TIMESTAMP '2024-02-29', TIMESTAMP '2024-03-02')") == ((2, 48, false)))
    assert(outcome("date_trunc('DAY', ts) = DATE '2024-02-29' OR d = DATE '2024-03-01'") == ((2, 48, true)))
    assert(outcome("date_trunc('DAY', n.ts) = TIMESTAMP '2024-02-29'")._1 == 1)
    assert(outcome("date_trunc('DAY', ntz) = TIMESTAMP '2024-02-29'")._1 == 1)
  }

  test("comparisons of the date or year of a timestamp, and of the month of a date, become ranges") {
    assert(outcome("CAST(ts AS DATE) = DATE '2024-02-29'") == ((1, 24, false)))
    assert(outcome("to_date(ts) IN (DATE '2024-02-29', DATE '2024-03-02')") == ((2, 48, false)))
    assert(outcome("year(ts) = 2023") == ((0, 0, false)))
    assert(outcome("EXTRACT(YEAR FROM ts) >= 2024") == ((10, 240, false)))
    assert(outcome("trunc(d, 'MM') = DATE '2024-02-01'")._1 == 4)
    assert(outcome("last_day(d) = DATE '2024-02-29'")._1 == 4)
  }

  test("a comparison of the first characters of a string becomes a prefix filter or an equality") {
    assert(outcome("left(s, 6) = '202402'")._1 == 4)
    assert(outcome("substring(s, 1, 8) = '20240229'")._1 == 1)
    assert(outcome("left(s, 100) = '20240229'")._1 == 1)
    assert(outcome("left(s, 8) IN ('20240229', '20240301')") == ((2, 48, true)))
  }

  test("a long list of prefixes is not converted, whether or not Spark's optimizer makes it a set") {
    val days = (1 to 31).map(day => f"'202402$day%02d'").mkString(", ")
    for (threshold <- Seq("10", "100")) withConf("spark.sql.optimizer.inSetConversionThreshold" -> threshold) {
      assert(outcome(s"left(s, 8) IN ($days)") == ((10, 96, true)))
    }
  }

  test("days begin at midnight in the session's time zone") {
    withConf("spark.sql.session.timeZone" -> "Asia/Kathmandu") {
      assert(outcome("date_trunc('DAY', ts) = TIMESTAMP '2024-02-29'") == ((2, 24, true)))
      assert(outcome("CAST(ts AS DATE) = DATE '2024-02-29'") == ((2, 24, true)))
    }
    withConf("spark.sql.session.timeZone" -> "America/New_York") {
      // The range is a day wider on each side, because the session's time zone changes its offset soon after, on
      // 2024-03-10.
      assert(outcome("date_trunc('DAY', ts) = TIMESTAMP '2024-03-01'") == ((4, 24, true)))
    }
  }

  test("if a query is filtered again, each plan contains the condition once and skips files by its range") {
    withConf("spark.sql.session.timeZone" -> "America/New_York") {
      val query = spark.table(hours).where("date_trunc('DAY', ts) = TIMESTAMP '2024-03-01'")
      (1 to 2).foreach { _ =>
        val filtered = query.where("d > DATE '2024-01-01'")
        val filterSql = planOf(filtered).collect { case f: Filter => f.condition.sql }.mkString
        assert("date_trunc".r.findAllIn(filterSql.toLowerCase).size == 1, filterSql)
        assert(files(filtered) == 4)
      }
    }
  }

  /** A condition that selects two days of New York, and whose derived range also includes the days around them. */
  private def guarded(onFirst: String, onThird: String): String =
    s"(date_trunc('DAY', ts) = TIMESTAMP '2024-03-01' AND $onFirst) OR " +
      s"(date_trunc('DAY', ts) = TIMESTAMP '2024-03-03' AND $onThird)"

  /** A table with one row and file per day. Only the rows of the selected days have valid values. */
  private lazy val days: String = {
    val table = newTable()
    sql(
      s"CREATE TABLE $table (ts timestamp, n int, s string, b binary) USING iceberg PARTITIONED BY (days(ts))"
    )
    sql(
      s"""INSERT INTO $table SELECT TIMESTAMP '2024-02-26 17:00:00Z' + make_interval(0, 0, 0, id),
         |IF(id IN (4, 6), id, 0), IF(id IN (4, 6), '{"a":1,"b":2}', 'not JSON'),
         |IF(id IN (4, 6), lite.system.st_point(1, 1), X'01') FROM range(20)""".stripMargin
    )
    table
  }

  private def inNewYork[A](body: => A): A =
    withConf("spark.sql.session.timeZone" -> "America/New_York", "spark.sql.ansi.enabled" -> "true")(body)

  test("a condition that can fail is only evaluated on the rows that its guard selects", Slow) {
    inNewYork {
      // No expression occurs twice, because Spark evaluates such an expression first, on all rows.
      for (
        (onFirst, onThird) <- Seq(
          "10 / n > 2" -> "10 / n > 1",
          "lite.system.variant_get(s, '$.a') = '1'" -> "lite.system.variant_get(s, '$.b') = '2'",
          "lite.system.st_astext(b) LIKE 'POINT%'" -> "lite.system.st_astext(b) LIKE 'P%'",
          "lite.system.st_intersects(b, lite.system.st_box(0, 0, 2, 2))" ->
            "lite.system.st_intersects(b, lite.system.st_point(1, 1))",
          "CAST(IF(n > 0, '1', 'x') AS int) = 1" -> "CAST(IF(n > 0, '1', 'x') AS int) > 0"
        )
      ) withClue(onFirst) {
        val query = sql(s"SELECT n FROM $days WHERE ${guarded(onFirst, onThird)}")
        assert(query.collect().map(_.getInt(0)).toSet == Set(4, 6))
        assert(files(query) == 5)
      }
    }
  }

  test("a condition that only Spark can test is evaluated once per row") {
    val calls = spark.sparkContext.longAccumulator
    spark.udf.register("counted", (n: Int) => { calls.add(1); n })
    inNewYork {
      val query = sql(s"SELECT n FROM $days WHERE ${guarded("counted(n) > 3", "counted(n) > 4")}")
      assert(query.collect().length == 2 && files(query) == 5)
      assert(calls.value == 2)
    }
  }

  test("a condition that a scan can test is part of the derived condition") {
    inNewYork {
      for (
        (condition, expected) <- Seq(
          "n = 4" -> 2,
          "n IN (4, 5) AND 10 / n > 1" -> 2,
          "NOT (n <> 4 OR n IS NULL)" -> 2,
          "s LIKE '{%'" -> 2,
          "lite.system.truncate(4, n) = 4" -> 2,
          "n < 10 / 3" -> 3,
          "lite.system.bucket(1, n) = 0" -> 4,
          "n + 1 = 5" -> 4
        )
      ) withClue(condition) {
        assert(files(sql(s"SELECT n FROM $days WHERE ${guarded(condition, "n = 6")}")) == expected)
      }
    }
  }

  test("filters that partitions satisfy completely are not evaluated on rows", Slow) {
    val table = newTable()
    sql(
      s"""CREATE TABLE $table (id bigint, s string, p string, d date) USING iceberg
         |PARTITIONED BY (bucket(4, id), truncate(2, s), p, months(d))""".stripMargin
    )
    sql(
      s"""INSERT INTO $table SELECT id, concat('a', id % 3, 'x', id), concat('p', id % 2),
         |DATE '2024-01-01' + CAST(id AS int) FROM range(100)""".stripMargin
    )
    def outcome(condition: String): (Int, Boolean) = {
      val query = sql(s"SELECT * FROM $table WHERE $condition")
      (query.collect().length, hasFilter(query))
    }
    assert(outcome("p = 'p1'") == ((50, false)))
    assert(outcome("p IN ('p1', 'p2', 'p3')") == ((50, false)))
    assert(outcome("contains(p, '1')") == ((50, false)))
    assert(outcome("p LIKE '%2'") == ((0, false)))
    assert(outcome("NOT (endswith(p, '1') OR p IS NULL)") == ((50, false)))
    assert(outcome("contains(s, 'a1x')") == ((33, true)))
    assert(outcome("s LIKE 'a1%'") == ((33, false)))
    assert(outcome("left(s, 2) = 'a1'") == ((33, false)))
    assert(outcome("s LIKE 'a1x%'") == ((33, true)))
    assert(outcome("lite.system.bucket(4, id) = 1") == ((
      rows(
        s"SELECT id FROM $table WHERE lite.system.bucket(4, id) + 0 = 1"
      ).size,
      false
    )))
    assert(outcome("lite.system.truncate(2, s) = 'a1'") == ((33, false)))
    assert(outcome("lite.system.months(d) = 649") == ((29, false)))
    assert(outcome("d >= DATE '2024-02-01' AND d < DATE '2024-03-01' AND p <> 'p1'") == ((14, false)))
    assert(outcome("year(d) = 2024 AND p IS NOT NULL") == ((100, false)))
    assert(outcome("trunc(d, 'MM') = DATE '2024-02-01'") == ((29, false)))
    assert(outcome("date_trunc('month', d) = TIMESTAMP '2024-02-01'") == ((29, false)))
  }
}
