package iceberglite.inspect

import iceberglite.spec.file.ContentFile
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{NestedField, NestedType, PrimitiveType}
import iceberglite.spec.types.Type.{LongType, StructType}

/**
 * The column `readable_metrics` of metadata tables. For each primitive column of the table, it contains a struct with
 * the counts and bounds of this column. The name of the struct is the full name of the column.
 *
 * @param table the columns of the table
 */
final private[inspect] class ReadableMetrics(table: Schema) {
  private val columns: Vector[(String, NestedField, PrimitiveType)] = table.byId.values.toVector.flatMap { f =>
    f.fieldType match {
      case p: PrimitiveType => Vector((table.names(f.id), f, p))
      case _: NestedType => Vector.empty
    }
  }.sortBy { case (name, field, _) => (name, field.id) }

  /** Returns the column. @param nextId generates field ids that the metadata table does not use yet */
  def field(nextId: () => Int): NestedField = {
    val structs = columns.map { case (name, _, columnType) =>
      NestedField.optional(nextId(), name, StructType(metrics(columnType, nextId)), s"Metrics of column $name")
    }
    NestedField.optional(nextId(), "readable_metrics", StructType(structs), "Column metrics in readable form")
  }

  private def metrics(columnType: PrimitiveType, nextId: () => Int): Vector[NestedField] = Vector(
    NestedField.optional(nextId(), "column_size", LongType, "Size on disk in bytes"),
    NestedField.optional(nextId(), "value_count", LongType, "Number of values, including null and NaN"),
    NestedField.optional(nextId(), "null_value_count", LongType, "Number of null values"),
    NestedField.optional(nextId(), "nan_value_count", LongType, "Number of NaN values"),
    NestedField.optional(nextId(), "lower_bound", BoundValues.boundType(columnType), "Lower bound"),
    NestedField.optional(nextId(), "upper_bound", BoundValues.boundType(columnType), "Upper bound")
  )

  /**
   * Returns a function that returns the metrics of a file. The metrics of columns that a request does not need are
   * omitted, because their bounds need not be decoded.
   *
   * @param metricsColumn the column, as [[field]] has returned it
   * @param request the request; absent if it is not known
   */
  def values(metricsColumn: NestedField, request: Option[RowRequest]): ContentFile => Option[MetadataRow] = {
    val structs = metricsColumn.fieldType match {
      case StructType(fields) => fields
      case other => throw new IllegalArgumentException(s"$other is not the type of readable_metrics")
    }
    val needed = columns.zip(structs).map { case ((_, field, columnType), struct) =>
      if (request.forall(_.needsField(metricsColumn, struct))) Some((field.id, columnType)) else None
    }
    file => Some(MetadataRow(needed.map(_.map { case (id, columnType) => metricsOf(file, id, columnType) })))
  }

  private def metricsOf(file: ContentFile, id: Int, columnType: PrimitiveType): MetadataRow = {
    val metrics = file.metrics
    MetadataRow.of(
      metrics.columnSize(id),
      metrics.valueCount(id),
      metrics.nullValueCount(id),
      metrics.nanValueCount(id),
      metrics.lowerBound(id).flatMap(BoundValues.ofBound(columnType, _)),
      metrics.upperBound(id).flatMap(BoundValues.ofBound(columnType, _))
    )
  }
}
