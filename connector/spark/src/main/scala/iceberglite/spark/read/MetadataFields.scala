package iceberglite.spark.read

import scala.util.Try

import iceberglite.inspect.UnionPartition
import iceberglite.spec.Type.StructType
import iceberglite.spec.{MetadataColumns, NestedField, TableMetadata}

/** The columns of a table that its files supply rather than their rows (spec: "Reserved Field IDs"). */
object MetadataFields {

  /** In the order in which Apache Iceberg lists them. A column of the table with the same name hides one of these. */
  def of(metadata: TableMetadata): Vector[NestedField] = Vector(
    MetadataColumns.SpecId,
    NestedField.optional(
      MetadataColumns.PartitionId,
      MetadataColumns.PartitionName,
      partitionType(metadata),
      "Partition of the row's file"
    ),
    MetadataColumns.FilePath,
    MetadataColumns.Position,
    MetadataColumns.Deleted,
    MetadataColumns.RowId,
    MetadataColumns.LastUpdatedSequenceNumber
  )

  /**
   * The partition fields of all specs. Of a version 1 table whose specs contradict each other, none: it is still read.
   */
  private def partitionType(metadata: TableMetadata): StructType =
    Try(new UnionPartition(metadata).structType).getOrElse(StructType(Vector.empty))
}
