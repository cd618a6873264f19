package iceberglite.spark.catalog

import iceberglite.spark.constraint.ConstraintExpression
import iceberglite.spec.IcebergError.{InvalidArgument, Unsupported}
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.property.CheckConstraint
import iceberglite.spec.schema.{ColumnPath, Schema}
import iceberglite.spec.update.SchemaChanges
import iceberglite.table.{Change, CommitContext, MetadataAction}

/**
 * Requires that changes of columns keep the columns of the CHECK constraints: a condition refers to columns by name.
 * This action precedes the action that changes the columns.
 *
 * @param edit applies the changes to a schema
 */
final private[catalog] class ConstrainedColumns(edit: SchemaChanges => SchemaChanges, caseSensitive: Boolean)
    extends MetadataAction {

  override def changeFor(base: TableMetadata, context: CommitContext): Change = {
    val constraints = CheckConstraint.of(base.properties)
    if (constraints.nonEmpty) {
      val changed = edit(SchemaChanges(base, caseSensitive)).schema
      constraints.foreach(require(_, base, changed, context.table))
    }
    Change(Vector.empty, Vector.empty)
  }

  /** Checks one constraint. A constraint that is already invalid does not prevent changes. */
  private def require(constraint: CheckConstraint, base: TableMetadata, changed: Schema, table: String): Unit =
    resolved(constraint, base.schema, base, table).foreach { before =>
      val isKept = resolved(constraint, changed, base, table).isDefined && ConstraintExpression.used(before).forall {
        case (path, _) =>
          val id = ColumnPath.require(base.schema, path, caseSensitive = true).last.id
          changed.paths.get(id).contains(path)
      }
      if (!isKept) throw Unsupported(
        s"renaming, dropping or changing a column of $table that the CHECK constraint $constraint uses",
        s"Drop the constraint first: ALTER TABLE $table DROP CONSTRAINT ${constraint.name}"
      )
    }

  private def resolved(constraint: CheckConstraint, schema: Schema, base: TableMetadata, table: String) =
    try Some(ConstraintExpression.resolve(constraint, ConstraintExpression.columns(schema, base.properties), table))
    catch { case _: InvalidArgument => None }
}

private[iceberglite] object ConstrainedColumns {

  /**
   * Checks the CHECK constraints in the properties of a new table.
   *
   * @throws InvalidArgument if a constraint is not a permitted condition on the columns
   */
  def checkNew(schema: Schema, properties: Map[String, String], table: String): Unit =
    CheckConstraint.of(properties).foreach { constraint =>
      ConstraintExpression.requireSameInAllSessions(constraint, table)
      ConstraintExpression.resolve(constraint, ConstraintExpression.columns(schema, properties), table)
    }
}
