package iceberglite.spec.json

import java.util.Locale

import scala.util.Try

import com.fasterxml.jackson.core.JsonGenerator

import iceberglite.spec.types.{PrimitiveType, Type}
import iceberglite.spec.types.Type._

/** The JSON form of types in a schema (spec: "Appendix C - Schemas"). */
object TypeJson extends JsonFormat[Type] {
  private val Kind = "type"
  private val StructKind = "struct"
  private val ListKind = "list"
  private val MapKind = "map"
  private val ElementId = "element-id"
  private val Element = "element"
  private val ElementRequired = "element-required"
  private val KeyId = "key-id"
  private val Key = "key"
  private val ValueId = "value-id"
  private val Value = "value"
  private val ValueRequired = "value-required"

  private val TypesByName: Map[String, PrimitiveType] = Seq(
    BooleanType,
    IntType,
    LongType,
    FloatType,
    DoubleType,
    DateType,
    TimeType,
    TimestampType,
    TimestampTzType,
    TimestampNsType,
    TimestampTzNsType,
    StringType,
    UuidType,
    BinaryType,
    UnknownType,
    VariantType
  ).map(t => t.toString -> t).toMap

  private val Fixed = """fixed\[\s*(\d+)\s*\]""".r
  private val Decimal = """decimal\(\s*(\d+)\s*,\s*(-?\d+)\s*\)""".r
  private val Geometry = """(?i:geometry)\s*(?:\(\s*([^,)]*?)\s*\))?""".r
  private val Geography = """(?i:geography)\s*(?:\(\s*([^,)]*?)\s*(?:,\s*(\w*)\s*)?\))?""".r

  override def read(json: JsonValue): Type =
    if (json.isText) primitive(json.string).getOrElse(json.fail(s"Unknown type: ${json.string}"))
    else json(Kind).string match {
      case StructKind => StructType(SchemaJson.fields(json))
      case ListKind => ListType(json(ElementId).int, read(json(Element)), json(ElementRequired).boolean)
      case MapKind =>
        MapType(
          json(KeyId).int,
          read(json(Key)),
          json(ValueId).int,
          read(json(Value)),
          json(ValueRequired).boolean
        )
      case other => json(Kind).fail(s"Unknown type: $other")
    }

  /** Returns the primitive type with the given name in JSON; absent if the name is unknown. */
  def primitive(name: String): Option[PrimitiveType] = name.toLowerCase(Locale.ROOT) match {
    case Fixed(length) => Try(length.toInt).toOption.filter(_ > 0).map(FixedType)
    case Decimal(precision, scale) =>
      Try(DecimalType(precision.toInt, scale.toInt)).toOption.filter(d => d.precision >= 1 && d.precision <= 38)
    case simpleName => TypesByName.get(simpleName).orElse(spatial(name))
  }

  /** Parses a geometry or geography type. The names of coordinate reference systems are case-sensitive. */
  private def spatial(name: String): Option[PrimitiveType] = name match {
    case Geometry(crs) => Some(GeometryType(orDefault(crs, DefaultCrs)))
    case Geography(crs, algorithm) =>
      val edgeAlgorithm = orDefault(algorithm, DefaultEdgeAlgorithm).toLowerCase(Locale.ROOT)
      Some(GeographyType(orDefault(crs, DefaultCrs), edgeAlgorithm))
    case _ => None
  }

  private def orDefault(text: String, default: String): String = Option(text).filter(_.nonEmpty).getOrElse(default)

  override def write(value: Type, out: JsonGenerator): Unit = value match {
    case primitive: PrimitiveType => out.writeString(primitive.toString)
    case struct: StructType =>
      out.writeStartObject()
      out.writeStringField(Kind, StructKind)
      SchemaJson.writeFields(struct.fields, out)
      out.writeEndObject()
    case list: ListType =>
      out.writeStartObject()
      out.writeStringField(Kind, ListKind)
      out.writeNumberField(ElementId, list.elementId)
      out.writeFieldName(Element)
      write(list.element, out)
      out.writeBooleanField(ElementRequired, list.elementRequired)
      out.writeEndObject()
    case map: MapType => writeMap(map, out)
  }

  private def writeMap(map: MapType, out: JsonGenerator): Unit = {
    out.writeStartObject()
    out.writeStringField(Kind, MapKind)
    out.writeNumberField(KeyId, map.keyId)
    out.writeFieldName(Key)
    write(map.key, out)
    out.writeNumberField(ValueId, map.valueId)
    out.writeFieldName(Value)
    write(map.value, out)
    out.writeBooleanField(ValueRequired, map.valueRequired)
    out.writeEndObject()
  }
}
