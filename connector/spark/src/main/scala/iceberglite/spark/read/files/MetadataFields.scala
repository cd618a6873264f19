package iceberglite.spark.read.files

import scala.util.Try

import iceberglite.inspect.PartitionStruct
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.schema.MetadataColumns
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.Type.StructType

/** The metadata columns that a query of a table can select (spec: "Reserved Field IDs"). */
object MetadataFields {

  /**
   * Returns the columns in the same order as Apache Iceberg. A column of the table with the same name hides a metadata
   * column.
   */
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
   * Returns a struct of the partition fields of all partition specs. If the partition specs of a version 1 table
   * contradict each other, the struct is empty, so that the table can still be read.
   */
  private def partitionType(metadata: TableMetadata): StructType =
    Try(new PartitionStruct(metadata).structType).getOrElse(StructType(Vector.empty))
}
