package iceberglite.spark.table

import java.util

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.analysis.NoSuchPartitionException
import org.apache.spark.sql.connector.catalog.SupportsAtomicPartitionManagement
import org.apache.spark.sql.types.StructType

import iceberglite.spark.error.ErrorBoundary
import iceberglite.spec.IcebergError.{Feature, Unsupported, ValidationFailed}
import iceberglite.spec.expr.Expression
import iceberglite.spec.expr.Expression.AlwaysFalse

/**
 * Spark's statements about the partitions of a table: `SHOW PARTITIONS`, `ALTER TABLE ... DROP PARTITION` and `TRUNCATE
 * TABLE ... PARTITION`. A partition is identified by the values of the fields of the current partition spec. Dropping
 * and truncating a partition have the same effect: both remove the files of the partition in one commit, without
 * reading them.
 */
private[table] trait PartitionManagement extends SupportsAtomicPartitionManagement with ErrorBoundary {

  /** Returns the partitions that a query of the table would read now. */
  protected def partitions: TablePartitions

  /** Removes the files whose rows satisfy a condition. */
  protected def deleteFiles(condition: Expression): Unit

  override def partitionSchema: StructType = in(partitions.schema)

  override def listPartitionIdentifiers(names: Array[String], ident: InternalRow): Array[InternalRow] =
    in(partitions.list(names.toSeq, ident).toArray)

  override def partitionExists(ident: InternalRow): Boolean = in {
    val current = partitions
    current.mayExist(current.condition(ident))
  }

  override def dropPartitions(idents: Array[InternalRow]): Boolean = in {
    val current = partitions
    val condition = idents.map(current.condition).foldLeft[Expression](AlwaysFalse)(Expression.or)
    current.partlyMatchingFile(condition).foreach { entry =>
      throw ValidationFailed(
        s"The partition cannot be removed without reading rows: the file ${entry.file.path} of the partition spec " +
          s"${entry.file.specId} has rows with $condition and may also have other rows. Delete the rows with DELETE " +
          "FROM, or first rewrite the files of older partition specs with CALL system.rewrite_data_files"
      )
    }
    deleteFiles(condition)
    true
  }

  override def purgePartition(ident: InternalRow): Boolean = in(throw purgeUnsupported)
  override def purgePartitions(idents: Array[InternalRow]): Boolean = in(throw purgeUnsupported)

  private def purgeUnsupported: Unsupported = Unsupported(
    s"DROP PARTITION ... PURGE of $name",
    "Earlier snapshots need the files. Drop the partition without PURGE, and expire the snapshots",
    Feature.PartitionPurge
  )

  override def truncatePartition(ident: InternalRow): Boolean = in {
    if (!partitionExists(ident)) throw new NoSuchPartitionException(name, ident, partitionSchema)
    dropPartitions(Array(ident))
  }

  override def truncatePartitions(idents: Array[InternalRow]): Boolean = in(dropPartitions(idents))

  override def createPartitions(idents: Array[InternalRow], properties: Array[util.Map[String, String]]): Unit = in {
    val advice = "Writes create partitions. To add existing files, use CALL system.add_files"
    throw Unsupported.operation(name, "ADD PARTITION of", advice)
  }

  override def renamePartition(from: InternalRow, to: InternalRow): Boolean = in {
    throw Unsupported.operation(name, "RENAME PARTITION of", "UPDATE the rows of the partition instead")
  }

  override def replacePartitionMetadata(ident: InternalRow, properties: util.Map[String, String]): Unit =
    in(rejectMetadata())

  override def loadPartitionMetadata(ident: InternalRow): util.Map[String, String] = in(rejectMetadata())

  private def rejectMetadata(): Nothing = throw Unsupported(
    s"properties of a partition of $name",
    s"The metadata table $name.partitions has the numbers of files and rows of each partition"
  )
}
