package iceberglite.spec.types

import iceberglite.spec.FormatVersion

/**
 * A data type of a table schema (spec: "Schemas and Data Types"). The `toString` of a primitive type is the name of the
 * type in the JSON of a schema.
 */
sealed trait Type extends Serializable

/** A type that is not nested. */
sealed abstract class PrimitiveType(name: String) extends Type {
  override def toString: String = name
}

/** A struct, list or map. The fields of a struct, list elements, map keys and map values have field ids. */
sealed trait NestedType extends Type {

  /** The fields of a struct, the field `element` of a list, or the fields `key` and `value` of a map. */
  def fields: Vector[NestedField]
}

object Type {
  case object BooleanType extends PrimitiveType("boolean")
  case object IntType extends PrimitiveType("int")
  case object LongType extends PrimitiveType("long")
  case object FloatType extends PrimitiveType("float")
  case object DoubleType extends PrimitiveType("double")

  /**
   * A decimal. In a schema, the precision is from 1 to 38. The scale is not checked, so metadata may contain negative
   * scales.
   */
  final case class DecimalType(precision: Int, scale: Int) extends PrimitiveType(s"decimal($precision, $scale)") {
    override def toString: String = s"decimal($precision, $scale)"
  }
  case object DateType extends PrimitiveType("date")
  case object TimeType extends PrimitiveType("time")
  case object TimestampType extends PrimitiveType("timestamp")
  case object TimestampTzType extends PrimitiveType("timestamptz")
  case object TimestampNsType extends PrimitiveType("timestamp_ns")
  case object TimestampTzNsType extends PrimitiveType("timestamptz_ns")
  case object StringType extends PrimitiveType("string")
  case object UuidType extends PrimitiveType("uuid")
  final case class FixedType(length: Int) extends PrimitiveType(s"fixed[$length]") {
    override def toString: String = s"fixed[$length]"
  }
  case object BinaryType extends PrimitiveType("binary")

  /**
   * The type `unknown`, which exists in version 3 and later. A column of this type is always null, and is not stored in
   * files.
   */
  case object UnknownType extends PrimitiveType("unknown")
  case object VariantType extends PrimitiveType("variant")
  final case class GeometryType(crs: String) extends PrimitiveType(s"geometry($crs)") {
    override def toString: String = if (crs == DefaultCrs) "geometry" else s"geometry($crs)"
  }
  final case class GeographyType(crs: String, algorithm: String) extends PrimitiveType(s"geography($crs, $algorithm)") {
    override def toString: String =
      if (algorithm != DefaultEdgeAlgorithm) s"geography($crs, $algorithm)"
      else if (crs == DefaultCrs) "geography"
      else s"geography($crs)"
  }
  val DefaultCrs = "OGC:CRS84"
  val DefaultEdgeAlgorithm = "spherical"

  final case class StructType(fields: Vector[NestedField]) extends NestedType {
    lazy val byName: Map[String, NestedField] = fields.map(f => f.name -> f).toMap
    lazy val byId: Map[Int, NestedField] = fields.map(f => f.id -> f).toMap
    override def toString: String = fields.mkString("struct<", ", ", ">")
  }

  final case class ListType(elementId: Int, element: Type, elementRequired: Boolean) extends NestedType {
    val elementField: NestedField = NestedField(elementId, "element", element, elementRequired)
    override def fields: Vector[NestedField] = Vector(elementField)
    override def toString: String = s"list<$element>"
  }

  final case class MapType(keyId: Int, key: Type, valueId: Int, value: Type, valueRequired: Boolean)
      extends NestedType {
    val keyField: NestedField = NestedField(keyId, "key", key, required = true)
    val valueField: NestedField = NestedField(valueId, "value", value, valueRequired)
    override def fields: Vector[NestedField] = Vector(keyField, valueField)
    override def toString: String = s"map<$key, $value>"
  }

  /** Returns the first format version that supports a type. */
  def minVersion(t: PrimitiveType): FormatVersion = t match {
    case TimestampNsType | TimestampTzNsType | UnknownType | VariantType | _: GeometryType | _: GeographyType =>
      FormatVersion.V3
    case BooleanType | IntType | LongType | FloatType | DoubleType | _: DecimalType | DateType | TimeType |
        TimestampType | TimestampTzType | StringType | UuidType | _: FixedType | BinaryType =>
      FormatVersion.V1
  }

  /**
   * Whether a column may be promoted from one type to another (spec: "Schema Evolution"), or the types are equal.
   * Columns of the types date and unknown can be promoted in version 3 and later.
   */
  def canPromote(from: Type, to: Type, version: FormatVersion): Boolean = (from, to) match {
    case (a, b) if a == b => true
    case (IntType, LongType) | (FloatType, DoubleType) => true
    case (DecimalType(p, s), DecimalType(wider, t)) => wider >= p && s == t
    case (DateType, TimestampType | TimestampNsType) => version >= FormatVersion.V3
    case (UnknownType, _) => version >= FormatVersion.V3
    case _ => false
  }
}

/**
 * A field of a struct, or the element, key or value of a list or map.
 *
 * @param id the field id, unique in the schema
 * @param initialDefault the value in rows that were written before the field was added; absent if the value is null
 * @param writeDefault the value that a write stores if its rows lack the field; absent if the value is null
 */
final case class NestedField(
    id: Int,
    name: String,
    fieldType: Type,
    required: Boolean,
    doc: Option[String] = None,
    initialDefault: Option[DefaultValue] = None,
    writeDefault: Option[DefaultValue] = None
) {
  def optional: Boolean = !required
  override def toString: String = s"$id: $name: ${if (required) "required" else "optional"} $fieldType"
}

object NestedField {
  def required(id: Int, name: String, fieldType: Type, doc: String = ""): NestedField =
    NestedField(id, name, fieldType, required = true, doc = Some(doc).filter(_.nonEmpty))

  def optional(id: Int, name: String, fieldType: Type, doc: String = ""): NestedField =
    NestedField(id, name, fieldType, required = false, doc = Some(doc).filter(_.nonEmpty))
}
