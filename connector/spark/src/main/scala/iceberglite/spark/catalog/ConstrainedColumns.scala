package iceberglite.spark.catalog

import org.apache.spark.sql.catalyst.expressions.Expression

import iceberglite.spark.constraint.{ConstraintExpression, GenerationExpression}
import iceberglite.spec.IcebergError.{InvalidArgument, Unsupported}
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.property.CheckConstraint
import iceberglite.spec.schema.{ColumnPath, GeneratedColumn, Schema}
import iceberglite.spec.update.SchemaChanges
import iceberglite.table.{Change, CommitContext, MetadataAction}

/**
 * Requires that changes of columns keep the columns that CHECK constraints and generated columns use, because their
 * expressions refer to columns by name. This action precedes the action that changes the columns.
 *
 * @param edit applies the changes to a schema
 */
final private[catalog] class ConstrainedColumns(edit: SchemaChanges => SchemaChanges, caseSensitive: Boolean)
    extends MetadataAction {

  override def changeFor(base: TableMetadata, context: CommitContext): Change = {
    val constraints = CheckConstraint.of(base.properties)
    val generated = GeneratedColumn.of(base.schema, base.properties)
    if (constraints.nonEmpty || generated.nonEmpty) {
      val changed = edit(SchemaChanges(base, caseSensitive)).schema
      constraints.foreach(require(_, base, changed, context.table))
      generated.foreach(require(_, base, changed, context.table))
    }
    Change(Vector.empty, Vector.empty)
  }

  /** Checks one constraint. A constraint that is already invalid does not prevent changes. */
  private def require(constraint: CheckConstraint, base: TableMetadata, changed: Schema, table: String): Unit = {
    def condition(schema: Schema) = valid {
      ConstraintExpression.resolve(constraint, ConstraintExpression.columns(schema, base.properties), table)
    }
    if (!isKept(condition(base.schema), condition(changed), base.schema, changed)) throw Unsupported(
      s"renaming, dropping or changing a column of $table that the CHECK constraint $constraint uses",
      s"Drop the constraint first: ALTER TABLE $table DROP CONSTRAINT ${constraint.name}"
    )
  }

  /** Checks one generated column. A column with an invalid expression does not prevent changes. */
  private def require(column: GeneratedColumn, base: TableMetadata, changed: Schema, table: String): Unit = {
    val before = valid(GenerationExpression.of(column.field.id, base.schema, base.properties, table)).flatten
    def isSame = before.forall { g =>
      GenerationExpression.isKept(g, changed, base.properties, table) && usesSameColumns(g.value, base.schema, changed)
    }
    val isDropped = !changed.fields.exists(_.id == column.field.id)
    if (!isDropped && !isSame) throw Unsupported(
      s"renaming, dropping or changing a column of $table that the generated column $column uses",
      s"Make it an ordinary column first: ALTER TABLE $table UNSET TBLPROPERTIES " +
        s"('${GeneratedColumn.Prefix}${column.field.name}')"
    )
  }

  /**
   * Whether an expression is valid after the changes and uses the same columns.
   *
   * @param before the expression before the changes; absent if it was already invalid
   */
  private def isKept(before: Option[Expression], after: Option[Expression], base: Schema, changed: Schema): Boolean =
    before.forall(expression => after.isDefined && usesSameColumns(expression, base, changed))

  private def usesSameColumns(expression: Expression, base: Schema, changed: Schema): Boolean =
    ConstraintExpression.used(expression).forall { case (path, _) =>
      val id = ColumnPath.require(base, path, caseSensitive = true).last.id
      changed.paths.get(id).contains(path)
    }

  private def valid[A](resolved: => A): Option[A] =
    try Some(resolved)
    catch { case _: InvalidArgument => None }
}

private[iceberglite] object ConstrainedColumns {

  /**
   * Checks the CHECK constraints and the generated columns of a new table.
   *
   * @throws InvalidArgument if a constraint is not a permitted condition on the columns, or an expression is not
   *   permitted for its column
   */
  def checkNew(schema: Schema, properties: Map[String, String], table: String): Unit = {
    CheckConstraint.of(properties).foreach { constraint =>
      ConstraintExpression.requireSameInAllSessions(constraint, table)
      ConstraintExpression.resolve(constraint, ConstraintExpression.columns(schema, properties), table)
    }
    GenerationExpression.requireSameInAllSessions(schema, properties, table)
    GenerationExpression.all(schema, properties, table)
    ()
  }
}
