package iceberglite.avro

import scala.collection.JavaConverters._

import org.apache.avro.{JsonProperties, LogicalType, LogicalTypes, Schema => AvroSchema}

import iceberglite.spec.types.{NestedField, PrimitiveType, Type, VariantFields}
import iceberglite.spec.types.Type._

/** Converts Iceberg types to Avro schemas with field ids (spec: "Appendix A: Avro"). */
object AvroSchemas {
  val FieldIdKey = "field-id"
  val ElementIdKey = "element-id"
  val KeyIdKey = "key-id"
  val ValueIdKey = "value-id"

  /** Property that contains the original name of a field whose name is not valid in Avro. */
  val FieldNameKey = "iceberg-field-name"
  val AdjustToUtcKey = "adjust-to-utc"
  private val LogicalTypeKey = "logicalType"
  private val MapLogicalType = "map"

  /**
   * Returns the record schema of a struct. Nested structs and variants are named `r<field id>`, and the entries of a
   * map with keys that are not strings `k<key id>_v<value id>`.
   */
  def of(struct: StructType, recordName: String): AvroSchema = record(struct.fields, recordName)

  private def record(fields: Vector[NestedField], name: String): AvroSchema =
    AvroSchema.createRecord(name, null: String, null: String, false, fields.map(field).asJava) // Avro expects null

  private def field(f: NestedField): AvroSchema.Field = {
    val name = FileFieldNames.avro(f.name)
    val schema = valueSchema(f.fieldType, f.required, s"r${f.id}")
    val avro =
      if (f.required) new AvroSchema.Field(name, schema, f.doc.orNull)
      else new AvroSchema.Field(name, schema, f.doc.orNull, JsonProperties.NULL_VALUE)
    if (name != f.name) avro.addProp(FieldNameKey, f.name)
    avro.addProp(FieldIdKey, f.id)
    avro
  }

  /**
   * Returns the schema of a field, element or value. The schema of an optional value is a union with null. The
   * exception is a value whose schema is itself null, because Avro does not allow a union of null with null.
   */
  private def valueSchema(t: Type, required: Boolean, recordName: String): AvroSchema = {
    val schema = typeSchema(t, recordName)
    if (required || schema.getType == AvroSchema.Type.NULL) schema
    else AvroSchema.createUnion(AvroSchema.create(AvroSchema.Type.NULL), schema)
  }

  private def typeSchema(t: Type, recordName: String): AvroSchema = t match {
    case StructType(fields) => record(fields, recordName)
    case list: ListType =>
      val schema = AvroSchema.createArray(valueSchema(list.element, list.elementRequired, s"r${list.elementId}"))
      schema.addProp(ElementIdKey, list.elementId)
      schema
    case map: MapType if (map.key: Type) == StringType =>
      val schema = AvroSchema.createMap(valueSchema(map.value, map.valueRequired, s"r${map.valueId}"))
      schema.addProp(KeyIdKey, map.keyId)
      schema.addProp(ValueIdKey, map.valueId)
      schema
    case map: MapType =>
      val schema = AvroSchema.createArray(record(map.fields, s"k${map.keyId}_v${map.valueId}"))
      schema.addProp(LogicalTypeKey, MapLogicalType)
      schema
    case primitive: PrimitiveType => primitiveSchema(primitive, recordName)
  }

  private def primitiveSchema(t: PrimitiveType, recordName: String): AvroSchema = t match {
    case BooleanType => AvroSchema.create(AvroSchema.Type.BOOLEAN)
    case IntType => AvroSchema.create(AvroSchema.Type.INT)
    case LongType => AvroSchema.create(AvroSchema.Type.LONG)
    case FloatType => AvroSchema.create(AvroSchema.Type.FLOAT)
    case DoubleType => AvroSchema.create(AvroSchema.Type.DOUBLE)
    case DateType => logical(AvroSchema.Type.INT, LogicalTypes.date)
    case TimeType => logical(AvroSchema.Type.LONG, LogicalTypes.timeMicros)
    case TimestampType => timestamp(LogicalTypes.timestampMicros, utc = false)
    case TimestampTzType => timestamp(LogicalTypes.timestampMicros, utc = true)
    case TimestampNsType => timestamp(new LogicalType("timestamp-nanos"), utc = false)
    case TimestampTzNsType => timestamp(new LogicalType("timestamp-nanos"), utc = true)
    case StringType => AvroSchema.create(AvroSchema.Type.STRING)
    case BinaryType | _: GeometryType | _: GeographyType => AvroSchema.create(AvroSchema.Type.BYTES)
    case UuidType => new LogicalType("uuid").addToSchema(fixed("uuid_fixed", UuidSize))
    case FixedType(length) => fixed(s"fixed_$length", length)
    case DecimalType(precision, scale) =>
      // A negative scale cannot be part of an Avro name.
      val name = s"decimal_${precision}_$scale".replace('-', 'm')
      val schema = fixed(name, bytesOfDecimal(precision))
      if (scale >= 0) LogicalTypes.decimal(precision, scale).addToSchema(schema) else schema
    case UnknownType => AvroSchema.create(AvroSchema.Type.NULL)
    case VariantType =>
      val parts = VariantFields.Encoded.map(new AvroSchema.Field(_, AvroSchema.create(AvroSchema.Type.BYTES)))
      // Avro expects null as doc and namespace.
      val schema = AvroSchema.createRecord(recordName, null: String, null: String, false, parts.asJava)
      new LogicalType("variant").addToSchema(schema)
  }

  /**
   * Returns the minimum number of bytes that can store every unscaled value with the given precision (spec: "Appendix
   * A").
   */
  def bytesOfDecimal(precision: Int): Int =
    java.math.BigInteger.TEN.pow(precision).subtract(java.math.BigInteger.ONE).bitLength / 8 + 1

  private[iceberglite] val UuidSize = 16

  private def logical(physical: AvroSchema.Type, logicalType: LogicalType): AvroSchema =
    logicalType.addToSchema(AvroSchema.create(physical))

  private def timestamp(unit: LogicalType, utc: Boolean): AvroSchema = {
    val schema = logical(AvroSchema.Type.LONG, unit)
    schema.addProp(AdjustToUtcKey, utc)
    schema
  }

  private def fixed(name: String, size: Int): AvroSchema =
    AvroSchema.createFixed(name, null: String, null: String, size) // Avro expects null as doc and namespace
}
