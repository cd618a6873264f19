package iceberglite.spark.sql

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

import iceberglite.spec.IcebergError.NotFound
import iceberglite.spec.ObjectKind
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.property.CheckConstraint
import iceberglite.table.MetadataAction
import iceberglite.table.action.UpdateProperties

/** `ALTER TABLE t DROP CONSTRAINT [IF EXISTS] name` */
final case class DropConstraint(table: Seq[String], name: String, ifExists: Boolean) extends MetadataCommand {

  override protected def loadsNewestVersion: Boolean = true

  override private[iceberglite] def metadataActions(
      base: TableMetadata,
      caseSensitive: Boolean
  ): Seq[MetadataAction] = {
    val existing = CheckConstraint.find(base.properties, name)
    if (existing.isEmpty && !ifExists) {
      val known = CheckConstraint.of(base.properties).map(_.name)
      val advice = if (known.isEmpty) "The table has no constraints" else s"The constraints are ${known.mkString(", ")}"
      throw NotFound(ObjectKind.Constraint, name, advice)
    }
    existing.map(constraint => new UpdateProperties(Map.empty, Set(constraint.key))).toSeq
  }
}

object DropConstraint extends AlterTableStatement {
  override val words: Seq[String] = Seq("DROP", "CONSTRAINT")

  override def parse(table: Seq[String], reader: SqlReader): LogicalPlan = {
    val ifExists = reader.skip("IF", "EXISTS")
    DropConstraint(table, reader.identifier("the name of a constraint"), ifExists)
  }
}
