package iceberglite.inspect

import iceberglite.spec.{Literal, PartitionTuple, TableMetadata}
import iceberglite.spec.Type.StructType
import iceberglite.tree.UnifiedPartition

/** The column `partition` of metadata tables that speak of the files of all specs of a table. */
final class UnionPartition(metadata: TableMetadata) {
  private val unified = new UnifiedPartition(metadata)

  def structType: StructType = unified.structType

  /** Whether there is a partition to speak of. */
  def isEmpty: Boolean = unified.isEmpty

  /** A file's partition as a row of [[structType]]. */
  def row(specId: Int, tuple: PartitionTuple): MetadataRow =
    MetadataRow(unified.values(specId, tuple).map(_.map(Literal.plain)))
}
