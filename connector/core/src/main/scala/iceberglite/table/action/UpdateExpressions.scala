package iceberglite.table.action

import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.partition.{Transform, UnboundField}
import iceberglite.spec.update.MetadataUpdate
import iceberglite.spec.update.Requirement.AssertCurrentSchemaId
import iceberglite.table.{Change, CommitContext, MetadataAction}

/**
 * Adds an expression that belongs to no partition field (version 4: `expressions` of table metadata). If a concurrent
 * commit changed the columns, the commit fails without a retry.
 *
 * @param source the path of the column
 * @param name the name; if absent, the expression gets the default name of a partition field with the same transform
 */
final class AddExpression(
    source: Vector[String],
    transform: Transform,
    name: Option[String],
    caseSensitive: Boolean = true
) extends MetadataAction {
  private val baseRequirements = new BaseRequirements(base => Vector(AssertCurrentSchemaId(base.currentSchemaId)))

  override def changeFor(base: TableMetadata, context: CommitContext): Change = {
    val column = UnboundField.source(base.schema, source, transform, caseSensitive)
    val ownName = name.getOrElse(transform.defaultFieldName(base.schema.names(column.id)))
    Change(
      Vector(MetadataUpdate.AddExpression(Vector(column.id), transform, ownName)),
      baseRequirements.require(base, context)
    )
  }
}

/** Removes an expression that belongs to no partition field. */
final class RemoveExpression(id: Int) extends MetadataAction {
  override def changeFor(base: TableMetadata, context: CommitContext): Change =
    Change(Vector(MetadataUpdate.RemoveExpression(id)), Vector.empty)
}
