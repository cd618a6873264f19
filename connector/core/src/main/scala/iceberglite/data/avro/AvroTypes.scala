package iceberglite.data.avro

import scala.collection.JavaConverters._

import org.apache.avro.{Schema => AvroSchema}
import org.apache.avro.Schema.Type._

import iceberglite.avro.AvroSchemas
import iceberglite.spec.types.{NestedField, PrimitiveType, Type, VariantFields}
import iceberglite.spec.types.Type._

/**
 * Converts Avro types to Iceberg types (spec: "Appendix A: Avro"). [[iceberglite.avro.AvroSchemas]] has the opposite
 * conversion.
 */
object AvroTypes {

  /**
   * Returns the columns of a file that have field ids, with their names before they were escaped for Avro. Columns
   * whose type has no Iceberg equivalent are omitted.
   *
   * @param record a schema that is not recursive
   */
  def toStruct(record: AvroSchema): StructType = StructType(record.getFields.asScala.toVector.flatMap { f =>
    for (id <- AvroNameMapping.idOf(f); t <- typeOf(f.schema))
      yield NestedField(id, columnName(f), t, isRequired(f.schema), Option(f.doc))
  })

  /** Returns the name of a field before it was escaped for Avro. */
  private[avro] def columnName(f: AvroSchema.Field): String =
    Option(f.getProp(AvroSchemas.FieldNameKey)).getOrElse(f.name)

  private def isRequired(schema: AvroSchema): Boolean = schema.getType match {
    case NULL => false
    case UNION => !schema.getTypes.asScala.exists(_.getType == NULL)
    case _ => true
  }

  private def typeOf(schema: AvroSchema): Option[Type] = schema.getType match {
    case UNION => valueOf(schema).flatMap(typeOf)
    case RECORD => Some(if (isVariant(schema)) VariantType else toStruct(schema))
    case ARRAY if isMap(schema) => entries(schema).flatMap { case (k, v) => mapOf(field(k), field(v)) }
    case ARRAY =>
      for {
        id <- AvroNameMapping.idOf(schema, AvroSchemas.ElementIdKey)
        element <- typeOf(schema.getElementType)
      } yield ListType(id, element, isRequired(schema.getElementType))
    case MAP =>
      val key = AvroNameMapping.idOf(schema, AvroSchemas.KeyIdKey).map(NestedField.required(_, "key", StringType))
      val value =
        for (id <- AvroNameMapping.idOf(schema, AvroSchemas.ValueIdKey); t <- typeOf(schema.getValueType))
          yield NestedField(id, "value", t, isRequired(schema.getValueType))
      mapOf(key, value)
    case _ => primitive(schema)
  }

  private def field(f: AvroSchema.Field): Option[NestedField] =
    for (id <- AvroNameMapping.idOf(f); t <- typeOf(f.schema)) yield NestedField(id, f.name, t, isRequired(f.schema))

  private def mapOf(key: Option[NestedField], value: Option[NestedField]): Option[MapType] =
    for (k <- key; v <- value) yield MapType(k.id, k.fieldType, v.id, v.fieldType, v.required)

  /** Returns the type in a union other than null; absent if the union has no such type, or several of them. */
  private[avro] def valueOf(union: AvroSchema): Option[AvroSchema] = {
    val values = union.getTypes.asScala.filter(_.getType != NULL)
    if (values.size == 1) values.headOption else None
  }

  /** Returns whether an array represents a map. In Avro, maps whose keys are not strings are written as arrays. */
  private[avro] def isMap(array: AvroSchema): Boolean = logicalName(array).contains("map")

  /** Returns the fields of the key and the value, if an array consists of key-value records. */
  private[avro] def entries(array: AvroSchema): Option[(AvroSchema.Field, AvroSchema.Field)] =
    if (array.getElementType.getType != RECORD) None
    else array.getElementType.getFields.asScala.toVector match {
      case Vector(key, value) => Some((key, value))
      case _ => None
    }

  /**
   * Returns whether a record is a variant. The fields are checked instead of the logical type, because the first files
   * with variants were written before the logical type existed.
   */
  private[avro] def isVariant(record: AvroSchema): Boolean =
    record.getFields.asScala.map(_.name).toSet == VariantFields.Encoded.toSet &&
      record.getFields.asScala.forall(_.schema.getType == BYTES) &&
      record.getFields.asScala.forall(AvroNameMapping.idOf(_).isEmpty)

  private[avro] def logicalName(schema: AvroSchema): Option[String] = Option(schema.getProp("logicalType"))

  /** Returns the scale of a decimal; Avro's default is 0. */
  private[avro] def scale(schema: AvroSchema): Int = number(schema, "scale").getOrElse(0)

  private def number(schema: AvroSchema, key: String): Option[Int] = schema.getObjectProp(key) match {
    case n: java.lang.Number => Some(n.intValue)
    case _ => None
  }

  private def isUtc(schema: AvroSchema): Boolean =
    Option(schema.getObjectProp(AvroSchemas.AdjustToUtcKey)).exists(_.toString == "true")

  private def primitive(schema: AvroSchema): Option[PrimitiveType] = (schema.getType, logicalName(schema)) match {
    case (NULL, _) => Some(UnknownType)
    case (BOOLEAN, _) => Some(BooleanType)
    case (INT, Some("date")) => Some(DateType)
    case (INT, Some("time-millis")) => Some(TimeType)
    case (INT, _) => Some(IntType)
    case (LONG, Some("time-micros")) => Some(TimeType)
    case (LONG, Some("timestamp-millis" | "timestamp-micros")) =>
      Some(if (isUtc(schema)) TimestampTzType else TimestampType)
    case (LONG, Some("timestamp-nanos")) => Some(if (isUtc(schema)) TimestampTzNsType else TimestampNsType)
    case (LONG, Some("local-timestamp-millis" | "local-timestamp-micros")) => Some(TimestampType)
    case (LONG, _) => Some(LongType)
    case (FLOAT, _) => Some(FloatType)
    case (DOUBLE, _) => Some(DoubleType)
    case (STRING, Some("uuid")) => Some(UuidType)
    case (STRING | ENUM, _) => Some(StringType)
    case (BYTES | FIXED, Some("decimal")) => number(schema, "precision").map(DecimalType(_, scale(schema)))
    case (BYTES, _) => Some(BinaryType)
    case (FIXED, Some("uuid")) if schema.getFixedSize == AvroSchemas.UuidSize => Some(UuidType)
    case (FIXED, _) => Some(FixedType(schema.getFixedSize))
    case _ => None
  }
}
