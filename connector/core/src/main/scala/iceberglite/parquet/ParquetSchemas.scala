package iceberglite.parquet

import org.apache.parquet.schema.{GroupType, LogicalTypeAnnotation, MessageType, Type => ParquetType, Types}
import org.apache.parquet.schema.LogicalTypeAnnotation.TimeUnit.{MICROS, NANOS}
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName._
import org.apache.parquet.schema.Type.Repetition.{OPTIONAL, REQUIRED}

import iceberglite.avro.{AvroSchemas, FileFieldNames}
import iceberglite.spec.IcebergError.Unsupported
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{NestedField, PrimitiveType, Type, VariantFields}
import iceberglite.spec.types.Type._

/** Converts Iceberg schemas to Parquet schemas with field ids (spec: "Appendix A: Parquet"). */
object ParquetSchemas {
  private val MaxIntDigits = 9
  private val MaxLongDigits = 18
  private val UuidSize = 16

  /**
   * Returns the Parquet schema of data files. Columns of type `unknown` are not stored. Names that Parquet tools do not
   * support are escaped. Geometry and geography are binaries. A variant is a group of two fields without ids.
   *
   * @throws Unsupported if a struct has only fields of type `unknown`, or a list element, map key or map value has this
   *   type
   */
  def of(schema: Schema, name: String = "table"): MessageType = {
    val fields = schema.fields.filter(isStored).map(field)
    new MessageType(FileFieldNames.parquet(name), fields: _*)
  }

  /** Returns a column that may be null, without a field id. */
  private[iceberglite] def optionalLeaf(t: PrimitiveType, name: String): ParquetType =
    leaf(t, OPTIONAL, NestedField(0, name, t, required = false)).named(name)

  private def isStored(f: NestedField): Boolean = (f.fieldType: Type) != UnknownType

  private def field(f: NestedField): ParquetType = {
    val repetition = if (f.required) REQUIRED else OPTIONAL
    val name = FileFieldNames.parquet(f.name)
    f.fieldType match {
      case StructType(fields) =>
        if (!fields.exists(isStored)) throw Unsupported(
          s"the struct ${f.name} in Parquet, because all of its fields are of type unknown",
          "Add a field of another type"
        )
        val group: Types.GroupBuilder[GroupType] = Types.buildGroup(repetition)
        group.addFields(fields.filter(isStored).map(field): _*).id(f.id).named(name)
      case list: ListType => Types.list(repetition).element(part(list.elementField)).id(f.id).named(name)
      case map: MapType =>
        Types.map(repetition).key(part(map.keyField)).value(part(map.valueField)).id(f.id).named(name)
      case VariantType => variant(repetition).id(f.id).named(name)
      case primitive: PrimitiveType => leaf(primitive, repetition, f).id(f.id).named(name)
    }
  }

  /**
   * Returns the group of a variant. The group has no logical type, because this version of the Parquet library does not
   * support variants. Readers recognize the column by the table's schema.
   */
  private def variant(repetition: ParquetType.Repetition): Types.GroupBuilder[GroupType] =
    Types.buildGroup(repetition)
      .required(BINARY).named(VariantFields.Metadata)
      .required(BINARY).named(VariantFields.Value)

  /**
   * Returns the element of a list, or the key or value of a map.
   *
   * @throws Unsupported if the type is `unknown`. Such a field is not stored, but in Parquet, a list must have
   *   elements, and a map must have keys and values
   */
  private def part(f: NestedField): ParquetType =
    if (isStored(f)) field(f)
    else throw Unsupported(s"a list or map whose ${f.name} has type ${f.fieldType} in Parquet", "Use another type")

  private type Leaf = Types.PrimitiveBuilder[org.apache.parquet.schema.PrimitiveType]

  private def leaf(t: PrimitiveType, repetition: ParquetType.Repetition, f: NestedField): Leaf = {
    def of(physical: PrimitiveTypeName): Leaf = Types.primitive(physical, repetition)
    t match {
      case BooleanType => of(BOOLEAN)
      case IntType => of(INT32)
      case LongType => of(INT64)
      case FloatType => of(FLOAT)
      case DoubleType => of(DOUBLE)
      case DateType => of(INT32).as(LogicalTypeAnnotation.dateType)
      case TimeType => of(INT64).as(LogicalTypeAnnotation.timeType(false, MICROS))
      case TimestampType => of(INT64).as(LogicalTypeAnnotation.timestampType(false, MICROS))
      case TimestampTzType => of(INT64).as(LogicalTypeAnnotation.timestampType(true, MICROS))
      case TimestampNsType => of(INT64).as(LogicalTypeAnnotation.timestampType(false, NANOS))
      case TimestampTzNsType => of(INT64).as(LogicalTypeAnnotation.timestampType(true, NANOS))
      case StringType => of(BINARY).as(LogicalTypeAnnotation.stringType)
      case BinaryType | _: GeometryType | _: GeographyType => of(BINARY)
      case UuidType => of(FIXED_LEN_BYTE_ARRAY).length(UuidSize).as(LogicalTypeAnnotation.uuidType)
      case FixedType(length) => of(FIXED_LEN_BYTE_ARRAY).length(length)
      case DecimalType(precision, scale) =>
        decimal(of, precision).as(LogicalTypeAnnotation.decimalType(scale, precision))
      case UnknownType | VariantType =>
        throw Unsupported(s"column ${f.name} of type $t as a Parquet primitive", "Use another type")
    }
  }

  private def decimal(of: PrimitiveTypeName => Leaf, precision: Int): Leaf =
    if (precision <= MaxIntDigits) of(INT32)
    else if (precision <= MaxLongDigits) of(INT64)
    else of(FIXED_LEN_BYTE_ARRAY).length(AvroSchemas.bytesOfDecimal(precision))
}
