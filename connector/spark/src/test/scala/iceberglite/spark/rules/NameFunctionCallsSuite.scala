package iceberglite.spark.rules

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.functions.expr
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spark.SharedSession

/** Tests the names of columns that call functions of the connector and have no alias. */
class NameFunctionCallsSuite extends AnyFunSuite with SharedSession {
  override lazy val spark: SparkSession = SharedSession.liteExtensions

  private val source = "(SELECT id, CAST(id AS string) AS s, timestamp_millis(id) AS t FROM range(1))"

  private def names(select: String, session: SparkSession = spark): Seq[String] =
    session.sql(s"SELECT $select FROM $source").columns.toSeq

  /** Returns a call with its functions in the catalog `lite`. */
  private def inCatalog(call: String): String = "([a-z_]+)\\(".r.replaceAllIn(call, "lite.system.$1(")

  test("a column without an alias is named like a call of a function of Spark") {
    val named = Seq(
      "bucket(16, id)",
      "truncate(2, s)",
      "days(t)",
      "zorder(id, s)",
      "iceberg_version()",
      "parse_variant(s)",
      "to_variant(id)",
      "st_point(id, 2)",
      "st_astext(st_box(0, 0, id, 1.5))"
    ).map(call => call -> call) ++ Seq(
      "variant_get(s, '$.a')" -> "variant_get(s, $.a)",
      "variant_get(s, '$', 'variant')" -> "variant_get(s, $, variant)",
      "try_variant_get(s, '$.a', 'int')" -> "try_variant_get(s, $['a'], int)",
      "st_intersects(st_point(1, 2), st_geomfromtext('POINT (1 2)'))" ->
        "st_intersects(st_point(1, 2), st_geomfromtext(POINT (1 2)))"
    )
    assert(names(named.map { case (call, _) => inCatalog(call) }.mkString(", ")) == named.map(_._2))
  }

  test("calls in other expressions, in subqueries and in DataFrames also have these names") {
    assert(names("max(lite.system.bucket(4, id)), lite.system.years(max(t)) + 1") ==
      Seq("max(bucket(4, id))", "(years(max(t)) + 1)"))
    val subquery = s"(SELECT lite.system.hours(t) FROM $source)"
    Seq("*", "`hours(t)`").foreach { columns =>
      assert(sql(s"SELECT $columns FROM $subquery").columns.toSeq == Seq("hours(t)"), columns)
    }
    val frame = spark.range(1).select(expr("lite.system.bucket(8, id)"))
    assert(frame.columns.toSeq == Seq("bucket(8, id)") && frame.where("`bucket(8, id)` < 8").count() == 1)
    val grouped = "lite.system.bucket(2, id)"
    assert(sql(s"SELECT $grouped, count(*) FROM $source GROUP BY $grouped").columns.toSeq ==
      Seq("bucket(2, id)", "count(1)"))
  }

  test("aliases, and calls of functions of Spark and of other catalogs, keep their names") {
    assert(names("lite.system.bucket(4, id) AS b, year(t), upper(s)") == Seq("b", "year(t)", "upper(s)"))
    val peer = "ice.system.bucket(4, id)"
    assert(names(peer) == names(peer, SharedSession.withoutExtensions))
  }
}
