package iceberglite.inspect

import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.partition.PartitionTuple
import iceberglite.spec.types.Literal
import iceberglite.spec.types.Type.StructType
import iceberglite.tree.UnifiedPartition

/**
 * The column `partition` of metadata tables. It is a struct with the partition fields of all partition specs of the
 * table. The class is serializable, because executors produce rows.
 */
final class PartitionStruct(metadata: TableMetadata) extends Serializable {
  private val unified = new UnifiedPartition(metadata)

  def structType: StructType = unified.structType

  /** Returns whether no partition spec of the table has a partition field. */
  def isEmpty: Boolean = unified.isEmpty

  /** Returns a file's partition as values of the fields of [[structType]]. */
  def values(specId: Int, tuple: PartitionTuple): Vector[Option[Literal]] = unified.values(specId, tuple)

  /** Returns a file's partition as a row of [[structType]]. */
  def row(specId: Int, tuple: PartitionTuple): MetadataRow = PartitionStruct.row(values(specId, tuple))
}

object PartitionStruct {

  /** Returns the row of the values of a partition. */
  def row(values: Vector[Option[Literal]]): MetadataRow = MetadataRow(values.map(_.map(Literal.javaValue)))
}
