package iceberglite.spark.constraint

import org.apache.spark.sql.catalyst.expressions.{AttributeReference, Cast, EqualNullSafe, Expression, RowOrdering}
import org.apache.spark.sql.catalyst.util.CharVarcharUtils
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.DataType

import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.schema.{GeneratedColumn, Schema}

/**
 * The resolved expression of a generated column.
 *
 * @param target the generated column, as one of the attributes of the table
 * @param value the value that the column must have, with the type of the column, as an expression over the attributes
 *   of the table
 */
final private[iceberglite] case class GenerationExpression(
    column: GeneratedColumn,
    target: AttributeReference,
    value: Expression
) {

  /** The names of the columns that the expression uses. */
  def sources: Set[String] = value.references.map(_.name).toSet

  /** The condition that the generated column of a row has the value of its expression. */
  def isSatisfied: Expression = EqualNullSafe(target, value)

  /** Returns the value of the expression for a row. @param valueOf returns the values of the columns in the row */
  def computed(valueOf: AttributeReference => Expression): Expression =
    value.transformUp { case column: AttributeReference => valueOf(column) }
}

private[iceberglite] object GenerationExpression {

  /**
   * Returns the expressions of all generated columns of a table.
   *
   * @param table the name of the table, for messages
   * @throws iceberglite.spec.IcebergError.InvalidArgument if an expression is not permitted; the message names the
   *   column
   */
  def all(schema: Schema, properties: Map[String, String], table: String): Vector[GenerationExpression] = {
    val generated = GeneratedColumn.of(schema, properties)
    if (generated.isEmpty) Vector.empty
    else {
      val columns = ConstraintExpression.columns(schema, properties)
      generated.map(resolve(_, generated, columns, table))
    }
  }

  /**
   * Returns the expression of one generated column; absent if no column with this id is generated.
   *
   * @throws iceberglite.spec.IcebergError.InvalidArgument if the expression is not permitted
   */
  def of(fieldId: Int, schema: Schema, properties: Map[String, String], table: String): Option[GenerationExpression] = {
    val generated = GeneratedColumn.of(schema, properties)
    generated.find(_.field.id == fieldId).map { column =>
      resolve(column, generated, ConstraintExpression.columns(schema, properties), table)
    }
  }

  /** Requires that all sessions parse the expressions of a new table in the same way. */
  def requireSameInAllSessions(schema: Schema, properties: Map[String, String], table: String): Unit =
    GeneratedColumn.of(schema, properties).foreach { g =>
      ConstraintExpression.requireSameInAllSessions(textOf(g, table))
    }

  /**
   * Whether the expression of a generated column is valid after a change of the schema, and the columns and fields that
   * it uses have the same types. Stored values can depend on the types, for example those of `hash(n)`.
   *
   * @param table the name of the table, for messages
   */
  def isKept(
      before: GenerationExpression,
      changed: Schema,
      properties: Map[String, String],
      table: String
  ): Boolean =
    try of(before.column.field.id, changed, properties, table).exists(g => usesSameTypes(before.value, g.value))
    catch { case _: InvalidArgument => false }

  private def usesSameTypes(before: Expression, after: Expression): Boolean = {
    val types = ConstraintExpression.used(after).map { case (path, value) => path -> value.dataType }.toMap
    ConstraintExpression.used(before).forall { case (path, value) =>
      types.get(path).exists(DataType.equalsIgnoreNullability(value.dataType, _))
    }
  }

  private def textOf(column: GeneratedColumn, table: String): RowExpressionText =
    RowExpressionText(s"generated column ${column.field.name} of $table", column.expression, "an expression")

  private def resolve(
      column: GeneratedColumn,
      generated: Vector[GeneratedColumn],
      columns: Seq[AttributeReference],
      table: String
  ): GenerationExpression = {
    val text = textOf(column, table)
    val value = ConstraintExpression.resolveValue(text, columns)
    val target = columns.find(_.name == column.field.name)
      .getOrElse(throw new IllegalStateException(s"$table has no column ${column.field.name}"))
    fault(column, generated, value, target.dataType).foreach(reason => throw text.invalid(reason))
    GenerationExpression(column, target, CharVarcharUtils.stringLengthCheck(converted(value, target.dataType), target))
  }

  private def fault(
      column: GeneratedColumn,
      generated: Vector[GeneratedColumn],
      value: Expression,
      target: DataType
  ): Option[String] = {
    val usedGenerated = generated.find(g => value.references.exists(_.name == g.field.name))
    if (column.field.writeDefault.isDefined) Some("The column must not have a default")
    else if (usedGenerated.isDefined) usedGenerated.map(g => s"It must not use the generated column ${g.field.name}")
    else if (!Cast.canUpCast(value.dataType, target))
      Some(s"It is a ${value.dataType.sql}, but the column is a ${target.sql}: cast the expression")
    else if (!RowOrdering.isOrderable(target))
      Some(s"Values of the type ${target.sql} cannot be compared, so that the column cannot be generated")
    else None
  }

  /** Returns a value with the type of a column. */
  def converted(value: Expression, target: DataType): Expression =
    if (value.dataType == target) value else Cast(value, target, Some(SQLConf.get.sessionLocalTimeZone))
}
