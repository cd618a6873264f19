package iceberglite.spark.sql

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.update.PartitionSpecChanges

/** `ALTER TABLE t ADD PARTITION FIELD transform [AS name]` */
final case class AddPartitionField(table: Seq[String], field: ParsedTerm, name: Option[String])
    extends PartitionFieldCommand {

  override protected def change(update: PartitionSpecChanges, metadata: TableMetadata): PartitionSpecChanges = {
    val term = field.term
    update.addField(term.source, term.transform, name)
  }
}

object AddPartitionField extends AlterTableStatement {
  override val words: Seq[String] = Seq("ADD", "PARTITION", "FIELD")

  override def parse(table: Seq[String], reader: SqlReader): LogicalPlan =
    AddPartitionField(table, AlterTableStatement.partitionTerm(reader), AlterTableStatement.alias(reader))
}
