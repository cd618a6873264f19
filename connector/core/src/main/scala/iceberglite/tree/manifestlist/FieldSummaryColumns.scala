package iceberglite.tree.manifestlist

import iceberglite.avro.{AvroRow, StructColumns}
import iceberglite.avro.ColumnType.{Bool, Bytes}
import iceberglite.avro.Presence.{Optional, Required}
import iceberglite.spec.file.FieldSummary

/** The struct `field_summary` (spec: "Manifest Lists"). */
private[iceberglite] object FieldSummaryColumns extends StructColumns[FieldSummary]("field_summary") {
  private val ContainsNull =
    column(
      509,
      "contains_null",
      Bool,
      Required,
      Required,
      Required,
      "Whether any file in the manifest has a null partition value for the field"
    )(s => Some(s.containsNull))
  private val ContainsNan =
    column(
      518,
      "contains_nan",
      Bool,
      Optional,
      Optional,
      Optional,
      "Whether any file in the manifest has a NaN partition value for the field"
    )(_.containsNan)
  private val LowerBound =
    column(
      510,
      "lower_bound",
      Bytes,
      Optional,
      Optional,
      Optional,
      "Lower bound of the partition values that are neither null nor NaN"
    )(_.lowerBound)
  private val UpperBound =
    column(
      511,
      "upper_bound",
      Bytes,
      Optional,
      Optional,
      Optional,
      "Upper bound of the partition values that are neither null nor NaN"
    )(_.upperBound)

  def fromRow(row: AvroRow): FieldSummary = FieldSummary(
    row.boolean(ContainsNull),
    if (row.has(ContainsNan)) Some(row.boolean(ContainsNan)) else None,
    row.option(LowerBound),
    row.option(UpperBound)
  )
}
