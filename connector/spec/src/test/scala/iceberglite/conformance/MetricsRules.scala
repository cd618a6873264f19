package iceberglite.conformance

/** Spec: "Manifests" (`data_file`), "Appendix D: Single-value serialization". */
object MetricsRules extends RuleBook("metrics", "Metrics of files") {
  val counts: Rule = rule(
    "counts",
    "Manifests",
    "Counts of a column are of all its values, nulls and NaNs among them; nulls and NaNs are counted by themselves."
  )("core/parquet/ParquetMetrics.scala")

  val columnSizes: Rule = rule(
    "column-sizes",
    "Manifests",
    "The size of a column is that of its chunks in all row groups."
  )("core/parquet/ParquetMetrics.scala")

  val bounds: Rule = rule(
    "bounds",
    "Manifests",
    "Bounds are the single-value bytes of the column's type, at most and at least every value that is no null and no NaN."
  )("core/parquet/ParquetMetrics.scala", "core/parquet/ParquetValues.scala", "spec/types/SingleValue.scala")

  val nans: Rule = rule(
    "nans",
    "Manifests",
    "NaNs are no bounds and hide none: a column keeps those of its other values, and one of NaNs only has none."
  )("core/metrics/FloatMetrics.scala")

  val zeros: Rule = rule(
    "zeros",
    "Manifests",
    "-0.0 comes before +0.0; where the sign is not known, the lower bound is -0.0 and the upper +0.0."
  )("core/metrics/FloatMetrics.scala", "core/metrics/ColumnBounds.scala")

  val modes: Rule = rule(
    "modes",
    "Manifests",
    "none keeps nothing of a column, counts no bounds, truncate(n) the first n characters or bytes, full all of them."
  )("core/metrics/ColumnBounds.scala", "core/metrics/MetricsModes.scala")

  val truncatedUpward: Rule = rule(
    "truncated-upward",
    "Manifests",
    "A cut upper bound is raised at its last character that can be, past surrogates; where none can be, there is none."
  )("core/metrics/ColumnBounds.scala")

  val inferredColumns: Rule = rule(
    "inferred-columns",
    "Manifests",
    "Without a default mode only the first hundred columns have metrics; columns of the sort order always have bounds."
  )("core/metrics/MetricsModes.scala")

  val repeatedFields: Rule = rule(
    "repeated-fields",
    "Manifests",
    "Fields of structs have counts and bounds; what is inside of lists and maps has its size only."
  )("core/parquet/ParquetMetrics.scala")

  val noBounds: Rule = rule(
    "no-bounds",
    "Manifests",
    "Variant, geometry and geography have no bounds, which says nothing of their values."
  )("core/parquet/ParquetMetrics.scala")

  val uuids: Rule = rule(
    "uuids",
    "Appendix D: Single-value serialization",
    "UUIDs are compared and kept as their sixteen bytes, unsigned, the most significant first."
  )("core/parquet/ParquetValues.scala", "spec/types/SingleValue.scala")

  val deleteFiles: Rule = rule(
    "delete-files",
    "Delete File Stats",
    "Metrics of delete files are of all deleted rows; bounds of file_path and pos are never cut."
  )("core/metrics/MetricsModes.scala")

  val asThePeer: Rule = rule(
    "as-the-peer",
    "Manifests",
    "The same rows have the same counts and bounds, in every mode, as Apache Iceberg gives them."
  )("core/parquet/ParquetMetrics.scala")

  val unknownStatistics: Rule = rule(
    "unknown-statistics",
    "Manifests",
    "Where a file says nothing for certain of a column, as of INT96 or a row group without statistics, nothing is kept."
  )("core/parquet/ParquetMetrics.scala", "core/parquet/ParquetValues.scala")
}
