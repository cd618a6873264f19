package iceberglite.spark.sql

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.update.PartitionSpecChanges

/** `ALTER TABLE t REPLACE PARTITION FIELD transform WITH transform [AS name]` */
final case class ReplacePartitionField(
    table: Seq[String],
    replaced: ParsedTerm,
    field: ParsedTerm,
    name: Option[String]
) extends PartitionFieldCommand {

  override protected def change(update: PartitionSpecChanges, metadata: TableMetadata): PartitionSpecChanges = {
    val term = field.term
    remove(update, metadata, replaced).addField(term.source, term.transform, name)
  }
}

object ReplacePartitionField extends AlterTableStatement {
  override val words: Seq[String] = Seq("REPLACE", "PARTITION", "FIELD")

  override def parse(table: Seq[String], reader: SqlReader): LogicalPlan = {
    val replaced = AlterTableStatement.partitionTerm(reader)
    reader.expectWord("WITH")
    ReplacePartitionField(table, replaced, AlterTableStatement.partitionTerm(reader), AlterTableStatement.alias(reader))
  }
}
