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
 * Spec, "Appendix D - JSON single-value serialization". The only struct value is `{}` (spec, version 3: "Default
 * values").
 */
object SingleValueJson {
  private val Keys = "keys"
  private val Values = "values"

  /** Reads a value. @throws iceberglite.spec.IcebergError.InvalidMetadata the JSON is not a value of the type */
  def read(json: JsonValue, valueType: PrimitiveType): Literal = {
    def orFail[A](what: String, value: Option[A]): A = value.getOrElse(json.fail(s"Not a $what: ${json.string}"))
    valueType match {
      case BooleanType => BooleanLiteral(json.boolean)
      case IntType => IntLiteral(json.int)
      case LongType => LongLiteral(json.long)
      case FloatType => FloatLiteral(floating(json).toFloat)
      case DoubleType => DoubleLiteral(floating(json))
      case decimal: DecimalType => DecimalLiteral(orFail(decimal.toString, decimalOf(json.string, decimal)))
      case DateType => DateLiteral(orFail("date", DateTime.parseDate(json.string)))
      case TimeType => TimeLiteral(orFail("time", DateTime.parseTime(json.string)))
      case TimestampType => TimestampLiteral(orFail("timestamp", DateTime.parseTimestamp(json.string)))
      case TimestampTzType =>
        TimestampTzLiteral(orFail("timestamp with zone", DateTime.parseTimestampTz(json.string)))
      case TimestampNsType => TimestampNsLiteral(orFail("timestamp", DateTime.parseTimestampNs(json.string)))
      case TimestampTzNsType =>
        TimestampTzNsLiteral(orFail("timestamp with zone", DateTime.parseTimestampTzNs(json.string)))
      case StringType => StringLiteral(json.string)
      case UuidType => UuidLiteral(orFail("UUID", LiteralConversion.uuid(json.string)))
      case FixedType(length) =>
        FixedLiteral(orFail(s"hexadecimal string of $length bytes", bytes(json.string).filter(_.remaining == length)))
      case BinaryType => BinaryLiteral(orFail("hexadecimal string", bytes(json.string)))
      case UnknownType | VariantType | _: GeometryType | _: GeographyType =>
        json.fail(s"The default of type $valueType must be null")
    }
  }

  /** Reads a default. @throws iceberglite.spec.IcebergError.InvalidMetadata the JSON is not a default of the type */
  def readDefault(json: JsonValue, valueType: Type): DefaultValue = valueType match {
    case primitive: PrimitiveType => OfPrimitive(read(json, primitive))
    case struct: StructType =>
      if (json.entries.nonEmpty) json.fail(s"The default of $struct must be {} or null; its fields have defaults")
      EmptyStruct
    case list: ListType => OfList(readParts(json, list.elementField))
    case map: MapType =>
      val keys = readParts(json(Keys), map.keyField).flatten
      val values = readParts(json(Values), map.valueField)
      if (keys.size != values.size) json.fail(s"There are ${keys.size} keys and ${values.size} values")
      OfMap(keys.zip(values))
  }

  private def readParts(json: JsonValue, part: NestedField): Vector[Option[DefaultValue]] = json.elements.map { e =>
    if (e.isNull && part.required) e.fail(s"The ${part.name} must not be null")
    if (e.isNull) None else Some(readDefault(e, part.fieldType))
  }

  def writeDefault(value: DefaultValue, out: JsonGenerator): Unit = value match {
    case OfPrimitive(literal) => write(literal, out)
    case EmptyStruct =>
      out.writeStartObject()
      out.writeEndObject()
    case OfList(elements) => writeParts(elements, out)
    case OfMap(entries) =>
      out.writeStartObject()
      out.writeFieldName(Keys)
      writeParts(entries.map { case (key, _) => Some(key) }, out)
      out.writeFieldName(Values)
      writeParts(entries.map(_._2), out)
      out.writeEndObject()
  }

  private def writeParts(values: Vector[Option[DefaultValue]], out: JsonGenerator): Unit = {
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

  /** Reads a number; NaN and the infinities are strings, because JSON has no such numbers. */
  private def floating(json: JsonValue): Double =
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
   * Formats a decimal: for a negative scale the exponent is the scale, so that the digits before it are the unscaled
   * value.
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
