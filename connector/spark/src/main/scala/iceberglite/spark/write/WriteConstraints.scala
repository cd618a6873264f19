package iceberglite.spark.write

import org.apache.spark.sql.catalyst.expressions.{
  ArrayTransform,
  AttributeReference,
  BoundReference,
  Cast,
  CreateNamedStruct,
  Expression,
  GetStructField,
  If,
  IsNull,
  LambdaFunction,
  Literal,
  NamedLambdaVariable,
  TransformKeys,
  TransformValues
}
import org.apache.spark.sql.types.{ArrayType, DataType, MapType => SparkMap, StructType => SparkStruct}

import iceberglite.spark.constraint.{ConstraintExpression, GenerationExpression, RowCheck, RowCondition}
import iceberglite.spark.convert.{SparkTypes, VariantsAsJson}
import iceberglite.spark.write.files.{InputField, InputSource}
import iceberglite.spec.property.CheckConstraint
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.Type.{ListType, MapType, StructType}
import iceberglite.table.Table

/** Binds the CHECK constraints and generated columns of a table to the rows of a write. */
private[write] object WriteConstraints {

  /**
   * Returns the check of the rows.
   *
   * @return absent if the table has no constraints and no generated columns
   * @throws iceberglite.spec.IcebergError.InvalidArgument if a constraint or the expression of a column is invalid; the
   *   message names it
   */
  def of(table: Table, input: Vector[InputField]): Option[RowCheck] = {
    lazy val columns = ConstraintExpression.columns(table.schema, table.properties)
    val checked = CheckConstraint.of(table.properties).map { constraint =>
      val condition = ConstraintExpression.resolve(constraint, columns, table.name)
      RowCondition.of(constraint, condition)(bind(_, table, input))
    }
    val generated = GenerationExpression.all(table.schema, table.properties, table.name)
      .map(RowCondition.of(_)(bind(_, table, input)))
    Some(RowCheck(table.name, checked ++ generated)).filter(_.conditions.nonEmpty)
  }

  private def bind(expression: Expression, table: Table, input: Vector[InputField]): Expression =
    expression.transform { case column: AttributeReference =>
      val field = table.schema.fields.find(_.name == column.name)
        .getOrElse(throw new IllegalStateException(s"${table.name} has no column ${column.name}"))
      val value = valueOf(field, input, (i, t) => BoundReference(i, t, nullable = true))
      if (VariantsAsJson.isNeeded(field.fieldType)) VariantsAsJson(value, field.fieldType)
      else ConstraintExpression.paddedAsRead(value, column)
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
      case Some(InputField(_, InputSource.Constant(value), _, _, _, _, _)) => Literal(value.orNull, target)
      case Some(field @ InputField(_, InputSource.Rows(ordinal), _, dataType, _, _, _)) =>
        converted(part(ordinal, dataType), field, column, target)
    }
  }

  /**
   * Converts a value of the rows to the type of its column. The rows may have narrower types, and the fields of structs
   * may be in another order or missing. A cast would match these fields by position.
   */
  private def converted(value: Expression, field: InputField, column: NestedField, target: DataType): Expression =
    (column.fieldType, field.dataType) match {
      case (_, same) if DataType.equalsIgnoreNullability(same, target) => value
      case (StructType(columns), _: SparkStruct) =>
        val parts = columns.flatMap { c =>
          Seq(Literal(c.name), valueOf(c, field.parts, (i, _) => GetStructField(value, i)))
        }
        val struct = CreateNamedStruct(parts)
        If(IsNull(value), Literal(null, struct.dataType), struct)
      case (list: ListType, _: ArrayType) if field.parts.nonEmpty =>
        val element = variable(field.parts.head)
        ArrayTransform(value, LambdaFunction(convertedPart(element, field.parts.head, list.elementField), Seq(element)))
      case (map: MapType, _: SparkMap) if field.parts.nonEmpty =>
        convertedMap(value, map, field.parts.head, field.parts.last)
      case _ => Cast(value, target)
    }

  private def convertedPart(value: Expression, part: InputField, column: NestedField): Expression =
    converted(value, part, column, SparkTypes.toSpark(column.fieldType))

  /** Converts the values of a map and then its keys. */
  private def convertedMap(map: Expression, column: MapType, keyPart: InputField, valuePart: InputField): Expression = {
    val (key, value) = (variable(keyPart), variable(valuePart))
    val convertedValue = convertedPart(value, valuePart, column.valueField)
    val values = TransformValues(map, LambdaFunction(convertedValue, Seq(key, value)))
    val newValue = NamedLambdaVariable("value", convertedValue.dataType, nullable = true)
    TransformKeys(values, LambdaFunction(convertedPart(key, keyPart, column.keyField), Seq(key, newValue)))
  }

  /** Returns the variable of a function that is applied to all elements of a list, or to all entries of a map. */
  private def variable(part: InputField): NamedLambdaVariable =
    NamedLambdaVariable(part.field.name, part.dataType, nullable = true)
}
