package iceberglite.spark.sql

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.schema.ColumnPath
import iceberglite.spec.update.SchemaChanges
import iceberglite.table.MetadataAction
import iceberglite.table.action.UpdateSchema

/** A statement that changes the identifier fields (spec: "Identifier Field IDs"). */
trait IdentifierFieldsCommand extends MetadataCommand {
  protected def change(update: SchemaChanges, caseSensitive: Boolean): SchemaChanges

  override private[iceberglite] def metadataActions(base: TableMetadata, caseSensitive: Boolean): Seq[MetadataAction] =
    Seq(new UpdateSchema(change(_, caseSensitive), caseSensitive))

  override protected def loadsNewestVersion: Boolean = false
}

/** `ALTER TABLE t SET IDENTIFIER FIELDS column, ...` */
final case class SetIdentifierFields(table: Seq[String], columns: Vector[Vector[String]])
    extends IdentifierFieldsCommand {

  override protected def change(update: SchemaChanges, caseSensitive: Boolean): SchemaChanges =
    update.setIdentifierFields(columns)
}

object SetIdentifierFields extends AlterTableStatement {
  override val words: Seq[String] = Seq("SET", "IDENTIFIER", "FIELDS")

  override def parse(table: Seq[String], reader: SqlReader): LogicalPlan =
    SetIdentifierFields(table, AlterTableStatement.columns(reader))
}

/** `ALTER TABLE t DROP IDENTIFIER FIELDS column, ...` */
final case class DropIdentifierFields(table: Seq[String], columns: Vector[Vector[String]])
    extends IdentifierFieldsCommand {

  override protected def change(update: SchemaChanges, caseSensitive: Boolean): SchemaChanges = {
    val schema = update.schema
    val remaining = columns.foldLeft(schema.identifierFieldIds) { (ids, column) =>
      val id = ColumnPath.require(schema, column, caseSensitive).last.id
      if (!ids(id)) {
        throw InvalidArgument(
          "identifier field",
          column.mkString("."),
          "It is not an identifier field, so it cannot be dropped"
        )
      }
      ids - id
    }
    update.setIdentifierFields(remaining.toSeq.map(schema.paths))
  }
}

object DropIdentifierFields extends AlterTableStatement {
  override val words: Seq[String] = Seq("DROP", "IDENTIFIER", "FIELDS")

  override def parse(table: Seq[String], reader: SqlReader): LogicalPlan =
    DropIdentifierFields(table, AlterTableStatement.columns(reader))
}
