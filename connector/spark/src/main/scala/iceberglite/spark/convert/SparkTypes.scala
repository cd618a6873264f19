package iceberglite.spark.convert

import org.apache.spark.sql.types.{
  ArrayType,
  BinaryType => SparkBinary,
  BooleanType => SparkBoolean,
  ByteType,
  CharType,
  DataType,
  DateType => SparkDate,
  DecimalType => SparkDecimal,
  DoubleType => SparkDouble,
  FloatType => SparkFloat,
  IntegerType,
  LongType => SparkLong,
  MapType => SparkMap,
  NullType,
  ShortType,
  StringType => SparkString,
  StructField,
  StructType => SparkStruct,
  TimestampNTZType,
  TimestampType => SparkTimestamp,
  VarcharType
}

import iceberglite.spec.IcebergError.{Feature, Unsupported}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{NestedField, Type}
import iceberglite.spec.types.Type._

/**
 * Converts between Iceberg types and Spark types.
 *
 * Types that Spark 3.5 does not have are mapped to other types: `uuid` to a string, `time` to a bigint of
 * microseconds since midnight, `timestamp_ns` and `timestamptz_ns` to bigints of nanoseconds since 1970, `fixed` and
 * the spatial types (as WKB) to binaries, `unknown` to void, and `variant` to a string of JSON. Spark's smaller
 * integers become `int`, and its `char` and `varchar` become `string`.
 */
object SparkTypes {

  def toSpark(schema: Schema): SparkStruct = toSpark(schema.fields)

  def toSpark(fields: Vector[NestedField]): SparkStruct = SparkStruct(fields.map { f =>
    val field = StructField(f.name, toSpark(f.fieldType), nullable = f.optional)
    f.doc.fold(field)(field.withComment)
  })

  /**
   * Returns the columns of a table with their write defaults. Spark supports defaults for columns but not for nested
   * fields, so the defaults of nested fields are omitted.
   */
  def withDefaults(schema: Schema): SparkStruct = SparkStruct(toSpark(schema).fields.zip(schema.fields).map {
    case (sparkField, field) => SparkDefaults.withWriteDefault(sparkField, field)
  })

  /**
   * Returns columns for a new schema. Their ids are temporary; the table assigns the final ids. The defaults of the
   * columns become write defaults only, because there are no existing rows.
   */
  def fromSpark(struct: SparkStruct): Vector[NestedField] =
    new Conversion().fields(struct, Vector.empty).zip(struct.fields).map { case (field, sparkField) =>
      field.copy(writeDefault = SparkDefaults.declared(sparkField, field.fieldType))
    }

  /** Converts the type of one column. @param name the name of the column, for messages */
  def fromSpark(dataType: DataType, name: String): Type = new Conversion().typeOf(dataType, Vector(name))

  /**
   * Returns the columns for display. The types variant, geometry and geography, also in nested columns, become Spark
   * types that show the Iceberg name. All other types stay as they are; for example, a uuid is displayed as a string.
   *
   * @param columns Spark's columns for `fields`, in the same order, possibly followed by other columns
   */
  def displayed(columns: SparkStruct, fields: Vector[NestedField]): SparkStruct = {
    val named = columns.fields.zip(fields).map { case (sparkField, field) =>
      sparkField.copy(dataType = displayed(sparkField.dataType, field.fieldType))
    }
    SparkStruct(named ++ columns.fields.drop(fields.size))
  }

  private def displayed(dataType: DataType, t: Type): DataType = (dataType, t) match {
    case (_, VariantType) => new VariantUdt
    case (_, spatial: GeometryType) => new SpatialUdt(spatial)
    case (_, spatial: GeographyType) => new SpatialUdt(spatial)
    case (struct: SparkStruct, StructType(fields)) => displayed(struct, fields)
    case (ArrayType(element, nulls), list: ListType) => ArrayType(displayed(element, list.element), nulls)
    case (SparkMap(key, value, nulls), map: MapType) =>
      SparkMap(displayed(key, map.key), displayed(value, map.value), nulls)
    case _ => dataType
  }

  def toSpark(t: Type): DataType = t match {
    case BooleanType => SparkBoolean
    case IntType => IntegerType
    case LongType | TimeType | TimestampNsType | TimestampTzNsType => SparkLong
    case FloatType => SparkFloat
    case DoubleType => SparkDouble
    case DecimalType(precision, scale) => SparkDecimal(precision, scale)
    case DateType => SparkDate
    case TimestampType => TimestampNTZType
    case TimestampTzType => SparkTimestamp
    case StringType | UuidType | VariantType => SparkString
    case FixedType(_) | BinaryType | GeometryType(_) | GeographyType(_, _) => SparkBinary
    case UnknownType => NullType
    case StructType(fields) => toSpark(fields)
    case list: ListType => ArrayType(toSpark(list.element), !list.elementRequired)
    case map: MapType => SparkMap(toSpark(map.key), toSpark(map.value), !map.valueRequired)
  }

  private def unsupported(column: String, columnType: String): Unsupported = Unsupported(
    s"column $column of Spark's type $columnType",
    "Tables and views do not support this type; cast the column to a supported type",
    Feature.ColumnType(column, columnType)
  )

  /** A conversion of one schema or type from Spark. It assigns temporary field ids. */
  final private class Conversion {
    private var lastId = 0

    private def nextId(): Int = {
      lastId += 1
      lastId
    }

    def fields(struct: SparkStruct, path: Vector[String]): Vector[NestedField] = struct.fields.toVector.map { f =>
      val id = nextId()
      NestedField(id, f.name, typeOf(f.dataType, path :+ f.name), required = !f.nullable, doc = f.getComment())
    }

    def typeOf(dataType: DataType, path: Vector[String]): Type = dataType match {
      case SparkBoolean => BooleanType
      case ByteType | ShortType | IntegerType => IntType
      case SparkLong => LongType
      case SparkFloat => FloatType
      case SparkDouble => DoubleType
      case d: SparkDecimal => DecimalType(d.precision, d.scale)
      case SparkDate => DateType
      case TimestampNTZType => TimestampType
      case SparkTimestamp => TimestampTzType
      case SparkString | CharType(_) | VarcharType(_) => StringType
      case SparkBinary => BinaryType
      case NullType => UnknownType
      case _: VariantUdt => VariantType
      case spatial: SpatialUdt => spatial.columnType
      case struct: SparkStruct => StructType(fields(struct, path))
      case ArrayType(element, containsNull) =>
        val id = nextId()
        ListType(id, typeOf(element, path :+ "element"), elementRequired = !containsNull)
      case SparkMap(key, value, valueContainsNull) =>
        val (keyId, valueId) = (nextId(), nextId())
        val (keyType, valueType) = (typeOf(key, path :+ "key"), typeOf(value, path :+ "value"))
        MapType(keyId, keyType, valueId, valueType, valueRequired = !valueContainsNull)
      case other => throw unsupported(path.mkString("."), other.sql)
    }
  }
}
