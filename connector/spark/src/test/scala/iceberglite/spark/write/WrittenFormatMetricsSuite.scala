package iceberglite.spark.write

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.Sampling
import iceberglite.conformance.MetricsRules

/** Checks the metrics in manifests of ORC and Avro files that Spark writes through iceberg-lite. */
class WrittenFormatMetricsSuite extends AnyFunSuite with MetricsFixture {
  private val maps = Seq("value_counts", "null_value_counts", "nan_value_counts", "lower_bounds", "upper_bounds")
  private val allMaps = maps.mkString(", ")

  /**
   * Metrics for a comparison with Apache Iceberg. The metrics of two kinds of columns are left out: binary columns, for
   * which Apache Iceberg stores no bounds in ORC files, and nested columns, for which Apache Iceberg does not count
   * nulls of enclosing structs.
   */
  private val comparableMaps =
    (maps :+ "column_sizes").map(m => s"map_filter($m, (k, v) -> k <= 13 AND k <> 6) AS $m").mkString(", ")
      .replace("map_filter(column_sizes", "map_filter(transform_values(column_sizes, (k, v) -> v > 0)")

  private def create(format: String, mode: String): String = {
    val t = newTable()
    sql(s"CREATE TABLE $t ($columns) USING iceberg TBLPROPERTIES " +
      s"('write.metadata.metrics.default' = '$mode', 'write.format.default' = '$format')")
    t
  }

  private def countsOf(table: String, columns: String): Seq[String] =
    rows(s"SELECT to_json(struct(record_count, $columns)) FROM ${inApacheIceberg(table)}.files").map(_.getString(0))

  Seq("none", "counts", "truncate(3)", "full").foreach { mode =>
    test(
      s"ORC and Avro files have the same counts and bounds as Parquet files, with mode '$mode'",
      MetricsRules.nans +: Sampling.slowInSomeRunsUnless(mode == "full"): _*
    ) {
      val metricsByFormat = Seq("parquet", "orc", "avro").map { format =>
        val t = create(format, mode)
        sql(s"INSERT INTO $t $values")
        countsOf(t, allMaps)
      }
      assert(metricsByFormat(1) == metricsByFormat.head && metricsByFormat(2) == metricsByFormat.head)
    }

    test(
      s"metrics of flat columns except binary in ORC files are the same as in Apache Iceberg, with mode '$mode'",
      MetricsRules.sameAsApacheIceberg +: Sampling.slowInSomeRunsUnless(mode == "full"): _*
    ) {
      val (liteTable, peerTable) = (create("orc", mode), create("orc", mode))
      sql(s"INSERT INTO $liteTable $values")
      sql(s"INSERT INTO ${inApacheIceberg(peerTable)} $values")
      assert(countsOf(liteTable, comparableMaps) == countsOf(peerTable, comparableMaps))
    }
  }
}
