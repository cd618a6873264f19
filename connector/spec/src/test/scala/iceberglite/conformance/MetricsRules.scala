package iceberglite.conformance

/** Rules of the specification sections "Manifests" (`data_file`) and "Appendix D: Single-value serialization". */
object MetricsRules extends RuleBook("metrics", "Metrics of files") {
  val counts: Rule = rule(
    "counts",
    "Manifests",
    "The value count of a column includes nulls and NaNs, which are also counted separately."
  )("core/parquet/ParquetMetrics.scala")

  val columnSizes: Rule = rule(
    "column-sizes",
    "Manifests",
    "The size of a column is the total size of its chunks in all row groups."
  )("core/parquet/ParquetMetrics.scala")

  val bounds: Rule = rule(
    "bounds",
    "Manifests",
    "Bounds are serialized values of the column's type. The lower bound is at most, and the upper bound at least, " +
      "every value that is not null or NaN."
  )("core/parquet/ParquetMetrics.scala", "core/parquet/ParquetValues.scala", "spec/types/SingleValue.scala")

  val nans: Rule = rule(
    "nans",
    "Manifests",
    "A bound is never NaN: it is computed from the values that are not NaN, and a column with only NaNs has no bounds."
  )("core/metrics/FloatMetrics.scala")

  val zeros: Rule = rule(
    "zeros",
    "Manifests",
    "-0.0 is less than +0.0; if the sign of a zero is unknown, a lower bound is -0.0 and an upper bound is +0.0."
  )("core/metrics/FloatMetrics.scala", "core/metrics/ColumnBounds.scala")

  val modes: Rule = rule(
    "modes",
    "Manifests",
    "The mode none stores no metrics, counts stores only counts, truncate(n) also stores the first n characters or " +
      "bytes of bounds, and full also stores whole bounds."
  )("core/metrics/ColumnBounds.scala", "core/metrics/MetricsModes.scala")

  val truncatedUpward: Rule = rule(
    "truncated-upward",
    "Manifests",
    "When an upper bound is truncated, its last character that has a successor is incremented, skipping surrogates; " +
      "if no character has a successor, the bound is omitted."
  )("core/metrics/ColumnBounds.scala")

  val inferredColumns: Rule = rule(
    "inferred-columns",
    "Manifests",
    "If the table sets no default mode, only its first hundred columns have metrics; sort columns always have bounds."
  )("core/metrics/MetricsModes.scala")

  val repeatedFields: Rule = rule(
    "repeated-fields",
    "Manifests",
    "Fields of structs have counts and bounds; fields inside lists and maps have only sizes."
  )("core/parquet/ParquetMetrics.scala")

  val variantBounds: Rule = rule(
    "variant-bounds",
    "Metadata (adopted version 3)",
    "The bounds of a variant column are objects with the bounds of parts of the variants, by normalized path. Only a " +
      "part whose values in the file all have one type, or are null, has bounds."
  )(
    "core/data/VariantBoundsReader.scala",
    "core/data/parquet/shred/TypedPart.scala",
    "core/data/parquet/shred/VariantMetrics.scala",
    "spec/expr/VariantPart.scala"
  )

  val variantFilters: Rule = rule(
    "variant-filters",
    "Metadata (adopted version 3)",
    "A filter of a query or a statement on a part of variants skips files by the bounds of the part, and row groups " +
      "by the statistics of its typed column, if the cast of the filter preserves the order of the values."
  )(
    "spec/file/VariantBounds.scala",
    "spec/expr/VariantPart.scala",
    "core/data/parquet/shred/RowGroupParts.scala",
    "spark/rules/VariantCondition.scala",
    "spark/rules/RewriteFunctionsToRanges.scala"
  )

  val variantConflicts: Rule = rule(
    "variant-conflicts",
    "Metadata (adopted version 3)",
    "A statement with a condition on a part of variants conflicts with each concurrently added file whose bounds do " +
      "not exclude matching rows, also if the file has no bounds of the part."
  )("core/table/action/RowFilter.scala")

  val spatialBounds: Rule = rule(
    "spatial-bounds",
    "Metadata (adopted version 3)",
    "Bounds of geometry and geography columns are points of the least and greatest coordinates, without NaN. A " +
      "geography column has bounds only if all of its values are points, because other edges leave these ranges."
  )("spec/geo/Extent.scala", "spec/geo/BoundingBox.scala", "spec/geo/Wkb.scala", "core/metrics/SpatialCollector.scala")

  val spatialFilters: Rule = rule(
    "spatial-filters",
    "Metadata (adopted version 3)",
    "A filter that a geometry intersects a box skips the files whose bounds do not intersect it. The lower bound of " +
      "a geography may have a greater x than the upper bound; then x is unlimited."
  )("spec/expr/RangeEvaluator.scala", "spec/file/MetricsEvaluator.scala")

  val uuids: Rule = rule(
    "uuids",
    "Appendix D: Single-value serialization",
    "UUIDs are compared and stored as sixteen unsigned bytes, with the most significant byte first."
  )("core/parquet/ParquetValues.scala", "spec/types/SingleValue.scala")

  val deleteFiles: Rule = rule(
    "delete-files",
    "Delete File Stats",
    "Metrics of delete files cover all deleted rows; bounds of file_path and pos are never truncated."
  )("core/metrics/MetricsModes.scala")

  val sameAsApacheIceberg: Rule = rule(
    "same-as-apache-iceberg",
    "Manifests",
    "For the same rows and mode, the counts and bounds are equal to those that Apache Iceberg computes."
  )("core/parquet/ParquetMetrics.scala")

  val unknownStatistics: Rule = rule(
    "unknown-statistics",
    "Manifests",
    "No metrics are stored for a column of type INT96, or if a row group has no statistics of the column."
  )("core/parquet/ParquetMetrics.scala", "core/parquet/ParquetValues.scala")
}
