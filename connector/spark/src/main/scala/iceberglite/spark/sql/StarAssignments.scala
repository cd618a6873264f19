package iceberglite.spark.sql

import org.apache.spark.sql.catalyst.analysis.Resolver
import org.apache.spark.sql.catalyst.expressions.{
  ArrayTransform,
  Attribute,
  CreateNamedStruct,
  Expression,
  GetStructField,
  If,
  IsNull,
  LambdaFunction,
  Literal,
  NamedLambdaVariable,
  TransformValues
}
import org.apache.spark.sql.catalyst.plans.logical.Assignment
import org.apache.spark.sql.types.{ArrayType, DataType, MapType, StructField, StructType}

import iceberglite.spark.error.SparkErrors
import iceberglite.spec.IcebergError.InvalidArgument

/**
 * The assignments of `UPDATE SET *` and `INSERT *` if the source may lack columns of the table. The assignments match
 * the columns of the source by name. Struct fields that the source lacks keep their values in existing rows. They are
 * null in new rows, and inside lists and maps.
 */
final private[sql] class StarAssignments(target: Seq[Attribute], source: Seq[Attribute], resolver: Resolver) {

  def ofUpdate: Seq[Assignment] = assignments(Some(_))

  def ofInsert: Seq[Assignment] = assignments(_ => None)

  private def assignments(existing: Attribute => Option[Expression]): Seq[Assignment] = for {
    column <- target
    value <- atMostOne(source.filter(a => resolver(a.name, column.name)), column.name)
  } yield Assignment(column, filled(value, column.dataType, existing(column)))

  private def atMostOne[A](found: Seq[A], name: String): Option[A] = {
    if (found.size > 1) throw SparkErrors.of(
      "",
      InvalidArgument("column of the source", name, s"The source has ${found.size} columns with this name; keep one")
    )
    found.headOption
  }

  /**
   * Returns a value with all fields of the column's type. A field that the value lacks is taken from the existing
   * value, or is null.
   *
   * @param existing the value of the column in the existing row; absent for a new row, and inside lists and maps
   */
  private def filled(value: Expression, targetType: DataType, existing: Option[Expression]): Expression =
    if (!lacksFields(value.dataType, targetType)) value
    else (value.dataType, targetType) match {
      case (from: StructType, columnType: StructType) =>
        val struct = CreateNamedStruct(columnType.zipWithIndex.flatMap { case (field, i) =>
          Seq(Literal(field.name), fieldOf(value, from, field, existing.map(GetStructField(_, i, Some(field.name)))))
        })
        if (value.nullable) If(IsNull(value), Literal(null, struct.dataType), struct) else struct
      case (ArrayType(from, containsNull), ArrayType(columnType, _)) =>
        val element = NamedLambdaVariable("element", from, containsNull)
        ArrayTransform(value, LambdaFunction(filled(element, columnType, None), Seq(element)))
      case (MapType(key, from, containsNull), MapType(_, columnType, _)) =>
        val k = NamedLambdaVariable("key", key, nullable = false)
        val v = NamedLambdaVariable("value", from, containsNull)
        TransformValues(value, LambdaFunction(filled(v, columnType, None), Seq(k, v)))
      case _ => value
    }

  private def fieldOf(
      value: Expression,
      from: StructType,
      field: StructField,
      existing: Option[Expression]
  ): Expression =
    from.fields.indexWhere(f => resolver(f.name, field.name)) match {
      case -1 => existing.getOrElse(Literal(null, field.dataType))
      case i => filled(GetStructField(value, i, Some(from(i).name)), field.dataType, existing)
    }

  /** Whether values lack fields of the column's type. */
  private def lacksFields(from: DataType, to: DataType): Boolean = (from, to) match {
    case (valueType: StructType, columnType: StructType) => columnType.exists { field =>
        valueType.find(f => resolver(f.name, field.name)).forall(f => lacksFields(f.dataType, field.dataType))
      }
    case (ArrayType(valueType, _), ArrayType(columnType, _)) => lacksFields(valueType, columnType)
    case (MapType(_, valueType, _), MapType(_, columnType, _)) => lacksFields(valueType, columnType)
    case _ => false
  }
}
