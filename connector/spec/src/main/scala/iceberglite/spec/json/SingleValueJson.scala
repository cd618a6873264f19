package iceberglite.spec.json

import java.math.BigDecimal
import java.nio.ByteBuffer

import scala.util.Try

import com.fasterxml.jackson.core.JsonGenerator

import iceberglite.spec.types.{DateTime, DefaultValue, Literal, LiteralConversion, NestedField, PrimitiveType, Type}
import iceberglite.spec.types.DefaultValue.{EmptyStruct, OfList, OfMap, OfPrimitive}
import iceberglite.spec.types.Literal._
import iceberglite.spec.types.Type._

/**
 * The JSON form of single values (spec: "Appendix D - JSON single-value serialization"). The only allowed struct value
 * is `{}` (spec, version 3: "Default values").
 */
object SingleValueJson {
  private val Keys = "keys"
  private val Values = "values"

  /** Reads a value. @throws iceberglite.spec.IcebergError.InvalidMetadata if the JSON is not a value of the type */
  def read(json: JsonValue, valueType: PrimitiveType): Literal = {
    def orFail[A](expected: String, value: Option[A]): A =
      value.getOrElse(json.fail(s"Not a $expected: ${json.string}"))
    valueType match {
      case BooleanType => BooleanLiteral(json.boolean)
      case IntType => IntLiteral(json.int)
      case LongType => LongLiteral(json.long)
      case FloatType => FloatLiteral(floatingPoint(json).toFloat)
      case DoubleType => DoubleLiteral(floatingPoint(json))
      case decimal: DecimalType => DecimalLiteral(orFail(decimal.toString, decimalOf(json.string, decimal)))
      case DateType => DateLiteral(orFail("date", DateTime.parseDate(json.string)))
      case TimeType => TimeLiteral(orFail("time", DateTime.parseTime(json.string)))
      case TimestampType => TimestampLiteral(orFail("timestamp", DateTime.parseTimestamp(json.string)))
      case TimestampTzType =>
        TimestampTzLiteral(orFail("timestamp with time zone", DateTime.parseTimestampTz(json.string)))
      case TimestampNsType => TimestampNsLiteral(orFail("timestamp", DateTime.parseTimestampNs(json.string)))
      case TimestampTzNsType =>
        TimestampTzNsLiteral(orFail("timestamp with time zone", DateTime.parseTimestampTzNs(json.string)))
      case StringType => StringLiteral(json.string)
      case UuidType => UuidLiteral(orFail("UUID", LiteralConversion.uuid(json.string)))
      case FixedType(length) =>
        FixedLiteral(orFail(s"hexadecimal string of $length bytes", bytes(json.string).filter(_.remaining == length)))
      case BinaryType => BinaryLiteral(orFail("hexadecimal string", bytes(json.string)))
      case UnknownType | VariantType | _: GeometryType | _: GeographyType =>
        json.fail(s"The default of type $valueType must be null")
    }
  }

  /** Reads a default. @throws iceberglite.spec.IcebergError.InvalidMetadata if the JSON is not a value of the type */
  def readDefault(json: JsonValue, valueType: Type): DefaultValue = valueType match {
    case primitive: PrimitiveType => OfPrimitive(read(json, primitive))
    case struct: StructType =>
      if (json.entries.nonEmpty) {
        json.fail(s"The default of $struct must be {} or null, because its fields have their own defaults")
      }
      EmptyStruct
    case list: ListType => OfList(readElements(json, list.elementField))
    case map: MapType =>
      val keys = readElements(json(Keys), map.keyField).flatten
      val values = readElements(json(Values), map.valueField)
      if (keys.size != values.size) json.fail(s"There are ${keys.size} keys and ${values.size} values")
      OfMap(keys.zip(values))
  }

  private def readElements(json: JsonValue, field: NestedField): Vector[Option[DefaultValue]] = json.elements.map { e =>
    if (e.isNull && field.required) e.fail(s"The ${field.name} must not be null")
    if (e.isNull) None else Some(readDefault(e, field.fieldType))
  }

  def writeDefault(value: DefaultValue, out: JsonGenerator): Unit = value match {
    case OfPrimitive(literal) => write(literal, out)
    case EmptyStruct =>
      out.writeStartObject()
      out.writeEndObject()
    case OfList(elements) => writeElements(elements, out)
    case OfMap(entries) =>
      out.writeStartObject()
      out.writeFieldName(Keys)
      writeElements(entries.map { case (key, _) => Some(key) }, out)
      out.writeFieldName(Values)
      writeElements(entries.map(_._2), out)
      out.writeEndObject()
  }

  private def writeElements(values: Vector[Option[DefaultValue]], out: JsonGenerator): Unit = {
    out.writeStartArray()
    values.foreach {
      case Some(value) => writeDefault(value, out)
      case None => out.writeNull()
    }
    out.writeEndArray()
  }

  def write(value: Literal, out: JsonGenerator): Unit = value match {
    case BooleanLiteral(v) => out.writeBoolean(v)
    case IntLiteral(v) => out.writeNumber(v)
    case LongLiteral(v) => out.writeNumber(v)
    case FloatLiteral(v) => out.writeNumber(v)
    case DoubleLiteral(v) => out.writeNumber(v)
    case DecimalLiteral(v) => out.writeString(decimalText(v))
    case DateLiteral(days) => out.writeString(DateTime.formatDate(days))
    case TimeLiteral(micros) => out.writeString(DateTime.formatTime(micros))
    case TimestampLiteral(micros) => out.writeString(DateTime.formatTimestamp(micros))
    case TimestampTzLiteral(micros) => out.writeString(DateTime.formatTimestampTz(micros))
    case TimestampNsLiteral(nanos) => out.writeString(DateTime.formatTimestampNs(nanos))
    case TimestampTzNsLiteral(nanos) => out.writeString(DateTime.formatTimestampTzNs(nanos))
    case StringLiteral(v) => out.writeString(v)
    case UuidLiteral(v) => out.writeString(v.toString)
    case FixedLiteral(v) => out.writeString(hex(v))
    case BinaryLiteral(v) => out.writeString(hex(v))
  }

  /** Reads a floating-point number. NaN and the infinities are strings, because JSON has no such numbers. */
  private def floatingPoint(json: JsonValue): Double =
    if (!json.isText) json.double
    else json.string match {
      case "NaN" => Double.NaN
      case "Infinity" => Double.PositiveInfinity
      case "-Infinity" => Double.NegativeInfinity
      case other => json.fail(s"Not a number: $other")
    }

  private def decimalOf(text: String, expected: DecimalType): Option[BigDecimal] =
    Try(new BigDecimal(text)).toOption.filter(v => v.scale == expected.scale && v.precision <= expected.precision)

  /**
   * Formats a decimal. If the scale is negative, the digits before the exponent are the unscaled value, and the
   * exponent is the negated scale.
   */
  private def decimalText(value: BigDecimal): String =
    if (value.scale >= 0) value.toPlainString else s"${value.unscaledValue}E+${-value.scale}"

  private def hex(bytes: ByteBuffer): String = {
    val text = new StringBuilder(bytes.remaining * 2)
    (bytes.position() until bytes.limit()).foreach { i =>
      val b = bytes.get(i)
      text.append(Character.forDigit((b >> 4) & 0xf, 16)).append(Character.forDigit(b & 0xf, 16))
    }
    text.toString
  }

  private def bytes(hex: String): Option[ByteBuffer] = {
    val digits = hex.map(Character.digit(_, 16))
    if (digits.size % 2 != 0 || digits.exists(_ < 0)) None
    else Some(ByteBuffer.wrap(digits.grouped(2).map(pair => (pair(0) << 4 | pair(1)).toByte).toArray))
  }
}
