package iceberglite.spark.convert

import org.apache.spark.sql.types.{DataType, StringType, UserDefinedType}
import org.apache.spark.unsafe.types.UTF8String

/**
 * The type `VARIANT` of new columns in statements, because Spark 3.5 has no such type. A table of the connector returns
 * the column as a string, so this type occurs only in the definitions of columns.
 */
final private[iceberglite] class VariantUdt extends UserDefinedType[UTF8String] {
  override def sqlType: DataType = StringType
  override def serialize(value: UTF8String): Any = value
  override def deserialize(datum: Any): UTF8String = UTF8String.fromString(String.valueOf(datum))
  override def userClass: Class[UTF8String] = classOf[UTF8String]
  override def catalogString: String = "variant"
  override def simpleString: String = "variant"
  override def sql: String = "VARIANT"
  override def equals(that: Any): Boolean = that.isInstanceOf[VariantUdt]
  override def hashCode: Int = classOf[VariantUdt].hashCode
}
