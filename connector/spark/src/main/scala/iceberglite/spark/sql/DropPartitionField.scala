package iceberglite.spark.sql

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.update.PartitionSpecChanges

/** `ALTER TABLE t DROP PARTITION FIELD transform`, or with the name of the partition field instead of the transform. */
final case class DropPartitionField(table: Seq[String], field: ParsedTerm) extends PartitionFieldCommand {

  override protected def change(update: PartitionSpecChanges, metadata: TableMetadata): PartitionSpecChanges =
    remove(update, metadata, field)
}

object DropPartitionField extends AlterTableStatement {
  override val words: Seq[String] = Seq("DROP", "PARTITION", "FIELD")

  override def parse(table: Seq[String], reader: SqlReader): LogicalPlan =
    DropPartitionField(table, AlterTableStatement.partitionTerm(reader))
}
