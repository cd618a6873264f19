package iceberglite.spark.read.partitioning

import java.net.URI
import java.nio.file.{Files, Paths}

import org.apache.spark.sql.catalyst.plans.logical.{ColumnStat, LogicalPlan, Statistics}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.spark.SharedSession

/** Checks the column statistics for Spark's cost-based optimizer, with and without Theta sketches. */
class ColumnEstimatesSuite extends AnyFunSuite with SharedSession {
  private val Cbo = "spark.sql.cbo.enabled"

  private lazy val table: String = {
    val name = newTable()
    val columns = "id BIGINT, cat STRING, day DATE, price DECIMAL(9, 2), x DOUBLE, none INT"
    sql(s"CREATE TABLE ${inApacheIceberg(name)} ($columns) USING iceberg")
    (0 until 2).foreach { i =>
      sql(
        s"""INSERT INTO ${inApacheIceberg(name)} SELECT /*+ COALESCE(1) */ id, concat('c', id % 7),
           |date_add(DATE'2024-01-01', int(id % 30)), id + 0.5, IF(id % 4 = 0, NULL, id / 2), NULL
           |FROM range(${i * 500}, ${i * 500 + 500})""".stripMargin
      )
    }
    sql(s"CALL ice.system.compute_table_stats('${inApacheIceberg(name).stripPrefix("ice.")}')")
    sql(s"REFRESH TABLE $name")
    name
  }

  private def leaf(query: String): LogicalPlan = sql(query).queryExecution.optimizedPlan.collectLeaves().head

  private def statistics(query: String): Statistics = leaf(query).stats

  private def columns(query: String): Map[String, ColumnStat] =
    statistics(query).attributeStats.map { case (attribute, stat) => attribute.name -> stat }

  private def assertDistinctCount(expected: Int, stat: ColumnStat): Unit =
    assert(stat.distinctCount.exists(n => (n.toDouble - expected).abs < expected * 0.1), stat)

  test("with the cost-based optimizer, columns have distinct counts, null counts and bounds", Slow) {
    withConf(Cbo -> "true") {
      val stats = columns(s"SELECT * FROM $table")
      assertDistinctCount(1000, stats("id"))
      assert(stats("id").min.contains(0L) && stats("id").max.contains(999L))
      assert(stats("id").nullCount.contains(BigInt(0)))
      assertDistinctCount(7, stats("cat"))
      assert(stats("cat").min.isEmpty && stats("cat").nullCount.contains(BigInt(0)))
      assertDistinctCount(30, stats("day"))
      assert(stats("day").min.contains(19723) && stats("day").max.contains(19752))
      assert(stats("price").max.map(_.toString).contains("999.50"))
      assertDistinctCount(750, stats("x"))
      assert(stats("x").nullCount.contains(BigInt(250)) && stats("x").max.contains(499.5))
    }
  }

  test("a column without values has no statistics, because Spark would assume that it joins with no row") {
    withConf(Cbo -> "true")(assert(!columns(s"SELECT * FROM $table").contains("none")))
  }

  test("without the cost-based optimizer, no column statistics are reported, and no manifest is read for statistics") {
    withConf(Cbo -> "false")(assert(columns(s"SELECT * FROM $table").isEmpty))
    val withoutManifests = newTable()
    sql(s"CREATE TABLE ${inApacheIceberg(withoutManifests)} (id BIGINT) USING iceberg")
    sql(s"INSERT INTO ${inApacheIceberg(withoutManifests)} VALUES (1), (2)")
    val manifests = rows(s"SELECT path FROM ${inApacheIceberg(withoutManifests)}.manifests").map(_.getString(0))
    manifests.foreach(path => Files.delete(Paths.get(URI.create(path))))
    withConf(Cbo -> "false") {
      val tableStats = statistics(s"SELECT * FROM $withoutManifests")
      assert(tableStats.rowCount.contains(BigInt(2)) && tableStats.attributeStats.isEmpty)
    }
    withConf(Cbo -> "true")(intercept[Exception](columns(s"SELECT * FROM $withoutManifests")))
  }

  test("statistics cover the files that match the filter, and distinct counts never exceed the row count") {
    withConf(Cbo -> "true") {
      val matchingRows = columns(s"SELECT id, cat FROM $table WHERE id >= 500")
      assert(matchingRows("id").min.contains(500L) && matchingRows("id").distinctCount.contains(BigInt(500)))
      assertDistinctCount(7, matchingRows("cat"))
    }
  }

  test("Spark estimates filters and joins from column statistics") {
    withConf(Cbo -> "true", "spark.sql.cbo.joinReorder.enabled" -> "true") {
      def rows(query: String): BigInt = sql(query).queryExecution.optimizedPlan.stats.rowCount.get
      assert((rows(s"SELECT * FROM $table WHERE cat = 'c3'") - 143).abs < 20)
      assert((rows(s"SELECT a.id FROM $table a JOIN $table b ON a.id = b.id") - 1000).abs < 120)
      assert(rows(s"SELECT a.id FROM $table a JOIN $table b ON a.cat = b.cat") > 100000)
      val joined = s"SELECT count(*) FROM $table a JOIN $table b ON a.cat = b.cat AND a.x = b.x"
      assert(sql(joined).head.getLong(0) == withConf(Cbo -> "false")(sql(joined).head.getLong(0)))
    }
  }

  test("without sketches, distinct counts of integers and dates are estimated from their bounds") {
    val (facts, keys) = (newTable(), newTable())
    sql(s"""CREATE TABLE $facts AS SELECT id, id % 100 + 1000 AS k, date_add(DATE'2024-01-01', int(id % 30)) AS day,
           |id % 5 = 0 AS flag, concat('s', id) AS s, CAST(id AS DOUBLE) AS x, IF(id % 2 = 0, id, NULL) AS half,
           |IF(id = 0, ${Long.MinValue}L, ${Long.MaxValue}L) AS wide FROM range(10000)""".stripMargin)
    sql(s"CREATE TABLE $keys AS SELECT id + 1000 AS k FROM range(100)")
    withConf(Cbo -> "true", "spark.sql.cbo.joinReorder.enabled" -> "true") {
      val stats = columns(s"SELECT * FROM $facts").mapValues(_.distinctCount.map(_.toLong))
      val distinctCounts = Map("id" -> 10000L, "k" -> 100L, "day" -> 30L, "half" -> 5000L, "wide" -> 10000L)
      distinctCounts.foreach { case (name, count) => assert(stats.get(name).contains(Some(count)), name) }
      assert(!stats.contains("x") && stats.get("s").forall(_.isEmpty))
      def rows(query: String): BigInt = sql(query).queryExecution.optimizedPlan.stats.rowCount.get
      assert(rows(s"SELECT * FROM $facts f JOIN $keys d ON f.k = d.k") == 10000)
      assert(rows(s"SELECT * FROM $facts WHERE k = 1007") == 100)
    }
  }

  test("after a commit, the statistics of an earlier snapshot are used until new statistics are computed") {
    val appendedTable = newTable()
    sql(s"CREATE TABLE ${inApacheIceberg(appendedTable)} USING iceberg AS SELECT id FROM range(100)")
    sql(s"CALL ice.system.compute_table_stats('${inApacheIceberg(appendedTable).stripPrefix("ice.")}')")
    sql(s"INSERT INTO ${inApacheIceberg(appendedTable)} SELECT id FROM range(1000, 1010)")
    sql(s"REFRESH TABLE $appendedTable")
    withConf(Cbo -> "true") {
      val id = columns(s"SELECT * FROM $appendedTable")("id")
      assert(id.distinctCount.contains(BigInt(100)) && id.max.contains(1009L))
    }
  }
}
