package iceberglite.spark.write.parquet

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.conformance.MetricsRules
import iceberglite.spark.write.MetricsFixture

/**
 * Metrics in manifests of files that Spark writes through iceberg-lite, compared with Apache Iceberg for the same rows.
 */
class WrittenMetricsPeerSuite extends AnyFunSuite with MetricsFixture {
  Seq("", "none", "counts", "truncate(3)", "full").foreach { mode =>
    test(
      s"metrics of written files are the same as in Apache Iceberg, with mode '$mode'",
      MetricsRules.sameAsApacheIceberg,
      MetricsRules.nans
    ) {
      val properties = if (mode.isEmpty) "" else s"TBLPROPERTIES ('write.metadata.metrics.default' = '$mode')"
      val (ours, theirs) = (newTable(), newTable())
      Seq(ours, theirs).foreach(t => sql(s"CREATE TABLE ${peer(t)} ($columns) USING iceberg $properties"))
      sql(s"INSERT INTO $ours $values")
      sql(s"INSERT INTO ${peer(theirs)} $values")
      assert(metricsOf(ours) == metricsOf(theirs))
    }
  }
}
