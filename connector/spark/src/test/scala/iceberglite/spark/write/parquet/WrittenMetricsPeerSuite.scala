package iceberglite.spark.write.parquet

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.Sampling
import iceberglite.conformance.MetricsRules
import iceberglite.spark.write.MetricsFixture

/**
 * Compares the metrics of files that Spark writes through iceberg-lite with the metrics that Apache Iceberg writes for
 * the same rows.
 */
class WrittenMetricsPeerSuite extends AnyFunSuite with MetricsFixture {
  Seq("", "none", "counts", "truncate(3)", "full").foreach { mode =>
    test(
      s"metrics of written files are the same as in Apache Iceberg, with mode '$mode'",
      Seq(MetricsRules.sameAsApacheIceberg, MetricsRules.nans) ++ Sampling.slowInSomeRunsUnless(
        mode == "truncate(3)"
      ): _*
    ) {
      val properties = if (mode.isEmpty) "" else s"TBLPROPERTIES ('write.metadata.metrics.default' = '$mode')"
      val (liteTable, peerTable) = (newTable(), newTable())
      Seq(liteTable, peerTable).foreach(t =>
        sql(s"CREATE TABLE ${inApacheIceberg(t)} ($columns) USING iceberg $properties")
      )
      sql(s"INSERT INTO $liteTable $values")
      sql(s"INSERT INTO ${inApacheIceberg(peerTable)} $values")
      assert(metricsOf(liteTable) == metricsOf(peerTable))
    }
  }
}
