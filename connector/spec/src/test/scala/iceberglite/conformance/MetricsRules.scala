package iceberglite.conformance

/** Spec: "Manifests" (`data_file`), "Appendix D: Single-value serialization". */
object MetricsRules extends RuleBook("metrics", "Metrics of files") {
  val counts: Rule = rule(
    "counts",
    "Manifests",
    "The value count of a column includes nulls and NaNs, which also have counts of their own."
  )("core/parquet/ParquetMetrics.scala")

  val columnSizes: Rule = rule(
    "column-sizes",
    "Manifests",
    "The size of a column is the total size of its chunks in all row groups."
  )("core/parquet/ParquetMetrics.scala")

  val bounds: Rule = rule(
    "bounds",
    "Manifests",
    "Bounds are single-value bytes of the column's type, below and above every value that is not null or NaN."
  )("core/parquet/ParquetMetrics.scala", "core/parquet/ParquetValues.scala", "spec/types/SingleValue.scala")

  val nans: Rule = rule(
    "nans",
    "Manifests",
    "NaNs are not bounds: a column keeps the bounds of its other values, and a column of NaNs has none."
  )("core/metrics/FloatMetrics.scala")

  val zeros: Rule = rule(
    "zeros",
    "Manifests",
    "-0.0 is less than +0.0; if the sign is unknown, the lower bound is -0.0 and the upper bound +0.0."
  )("core/metrics/FloatMetrics.scala", "core/metrics/ColumnBounds.scala")

  val modes: Rule = rule(
    "modes",
    "Manifests",
    "none stores no metrics, counts no bounds, truncate(n) the first n characters or bytes of a bound, full whole " +
      "bounds."
  )("core/metrics/ColumnBounds.scala", "core/metrics/MetricsModes.scala")

  val truncatedUpward: Rule = rule(
    "truncated-upward",
    "Manifests",
    "A truncated upper bound is raised at its last incrementable character, skipping surrogates; otherwise it is " +
      "omitted."
  )("core/metrics/ColumnBounds.scala")

  val inferredColumns: Rule = rule(
    "inferred-columns",
    "Manifests",
    "Without a default mode only the first hundred columns have metrics; columns of the sort order always have bounds."
  )("core/metrics/MetricsModes.scala")

  val repeatedFields: Rule = rule(
    "repeated-fields",
    "Manifests",
    "Fields of structs have counts and bounds; fields inside lists and maps have sizes only."
  )("core/parquet/ParquetMetrics.scala")

  val noBounds: Rule = rule(
    "no-bounds",
    "Manifests",
    "Variant, geometry and geography columns have no bounds; filters skip nothing based on that."
  )("core/parquet/ParquetMetrics.scala")

  val uuids: Rule = rule(
    "uuids",
    "Appendix D: Single-value serialization",
    "UUIDs are compared and stored as sixteen unsigned bytes, most significant first."
  )("core/parquet/ParquetValues.scala", "spec/types/SingleValue.scala")

  val deleteFiles: Rule = rule(
    "delete-files",
    "Delete File Stats",
    "Metrics of delete files cover all deleted rows; bounds of file_path and pos are never truncated."
  )("core/metrics/MetricsModes.scala")

  val asThePeer: Rule = rule(
    "as-the-peer",
    "Manifests",
    "The same rows get the same counts and bounds as in Apache Iceberg, in every mode."
  )("core/parquet/ParquetMetrics.scala")

  val unknownStatistics: Rule = rule(
    "unknown-statistics",
    "Manifests",
    "If a file has no reliable statistics of a column (INT96, a row group without statistics), no metrics are stored."
  )("core/parquet/ParquetMetrics.scala", "core/parquet/ParquetValues.scala")
}
