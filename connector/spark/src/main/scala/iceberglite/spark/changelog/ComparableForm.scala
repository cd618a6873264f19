package iceberglite.spark.changelog

import org.apache.spark.sql.Column
import org.apache.spark.sql.catalyst.expressions.{CreateNamedStruct, GetStructField, Literal}
import org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke
import org.apache.spark.sql.functions.{lit, map_entries, map_from_entries, sort_array, transform, when}
import org.apache.spark.sql.types._

/**
 * Converts values to a form in which Spark can group and sort them. Spark cannot compare maps, and it treats 0.0 and
 * -0.0 as equal. In the comparable form, a map is a sorted array of its entries, and 0.0 differs from -0.0. All NaN
 * values are equal.
 */
private[changelog] object ComparableForm {

  /** Returns the comparable form of a value. @param dataType the type of the value */
  def of(value: Column, dataType: DataType): Column = dataType match {
    case t if isComparable(t) => value
    case FloatType => call(classOf[java.lang.Float], IntegerType, "floatToIntBits", value)
    case DoubleType => call(classOf[java.lang.Double], LongType, "doubleToLongBits", value)
    case StructType(fields) => convertFields(value, fields, of)
    case ArrayType(element, _) => transform(value, of(_, element))
    case map: MapType => sort_array(transform(map_entries(value), of(_, entry(map))))
  }

  /** Converts the comparable form of a value back to the value. The entries of a map may be in another order. */
  def toValue(form: Column, dataType: DataType): Column = dataType match {
    case t if isComparable(t) => form
    case FloatType => call(classOf[java.lang.Float], FloatType, "intBitsToFloat", form)
    case DoubleType => call(classOf[java.lang.Double], DoubleType, "longBitsToDouble", form)
    case StructType(fields) => convertFields(form, fields, toValue)
    case ArrayType(element, _) => transform(form, toValue(_, element))
    case map: MapType => map_from_entries(transform(form, toValue(_, entry(map))))
  }

  private def isComparable(dataType: DataType): Boolean = dataType match {
    case FloatType | DoubleType | _: MapType => false
    case StructType(fields) => fields.forall(f => isComparable(f.dataType))
    case ArrayType(element, _) => isComparable(element)
    case _ => true
  }

  private def entry(map: MapType): StructType = StructType(Seq(
    StructField("key", map.keyType, nullable = false),
    StructField("value", map.valueType, map.valueContainsNull)
  ))

  private def convertFields(
      value: Column,
      fields: Array[StructField],
      convert: (Column, DataType) => Column
  ): Column = {
    val parts = fields.toSeq.zipWithIndex.flatMap { case (f, i) =>
      Seq(Literal(f.name), convert(new Column(GetStructField(value.expr, i)), f.dataType).expr)
    }
    when(value.isNull, lit(null)).otherwise(new Column(CreateNamedStruct(parts)))
  }

  /** Returns a call of a static Java method. For a null argument, the result is null. */
  private def call(javaClass: Class[_], result: DataType, method: String, argument: Column): Column =
    new Column(StaticInvoke(javaClass, result, method, Seq(argument.expr), returnNullable = false))
}
