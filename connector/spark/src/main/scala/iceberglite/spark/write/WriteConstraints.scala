package iceberglite.spark.write

import org.apache.spark.sql.catalyst.expressions.{
  AttributeReference,
  BoundReference,
  Cast,
  CreateNamedStruct,
  Expression,
  GetStructField,
  If,
  IsNull,
  Literal
}
import org.apache.spark.sql.types.{DataType, StructType => SparkStruct}

import iceberglite.spark.constraint.{ConstraintExpression, RowCheck, RowCondition}
import iceberglite.spark.convert.SparkTypes
import iceberglite.spark.write.files.{InputField, InputSource}
import iceberglite.spec.property.CheckConstraint
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.Type.StructType
import iceberglite.table.Table

/** Binds the CHECK constraints of a table to the rows of a write. */
private[write] object WriteConstraints {

  /**
   * Returns the check of the rows.
   *
   * @return absent if the table has no constraints
   * @throws iceberglite.spec.IcebergError.InvalidArgument if a constraint is invalid; the message names it
   */
  def of(table: Table, input: Vector[InputField]): Option[RowCheck] = {
    val constraints = CheckConstraint.of(table.properties)
    if (constraints.isEmpty) None
    else {
      val columns = ConstraintExpression.columns(table.schema, table.properties)
      val fieldOf = columns.map(_.exprId).zip(table.schema.fields).toMap
      def bind(expression: Expression): Expression = expression.transform { case column: AttributeReference =>
        valueOf(fieldOf(column.exprId), input, (i, t) => BoundReference(i, t, nullable = true))
      }
      val conditions = constraints.map { constraint =>
        RowCondition.of(constraint, ConstraintExpression.resolve(constraint, columns, table.name))(bind)
      }
      Some(RowCheck(table.name, conditions))
    }
  }

  /**
   * Returns the value of a column in the rows, with the type of the column.
   *
   * @param part returns the value with the given index in the rows, or in the enclosing struct
   */
  private def valueOf(
      column: NestedField,
      input: Vector[InputField],
      part: (Int, DataType) => Expression
  ): Expression = {
    val target = SparkTypes.toSpark(column.fieldType)
    input.find(_.field.id == column.id) match {
      case None => Literal(null, target)
      case Some(InputField(_, InputSource.Constant(value), _, _, _)) => Literal(value.orNull, target)
      case Some(field @ InputField(_, InputSource.Rows(ordinal), _, dataType, _)) =>
        converted(part(ordinal, dataType), field, column, target)
    }
  }

  /** Converts a value of the rows to the type of its column. The rows may have narrower types or omit nested fields. */
  private def converted(value: Expression, field: InputField, column: NestedField, target: DataType): Expression =
    (column.fieldType, field.dataType) match {
      case (_, same) if DataType.equalsIgnoreNullability(same, target) => value
      case (StructType(columns), _: SparkStruct) =>
        val parts = columns.flatMap { c =>
          Seq(Literal(c.name), valueOf(c, field.parts, (i, _) => GetStructField(value, i)))
        }
        val struct = CreateNamedStruct(parts)
        If(IsNull(value), Literal(null, struct.dataType), struct)
      case _ => Cast(value, target)
    }
}
