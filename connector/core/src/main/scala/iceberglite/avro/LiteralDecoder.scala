package iceberglite.avro

import java.math.{BigDecimal, BigInteger}
import java.nio.ByteBuffer
import java.util.UUID

import scala.util.Try

import org.apache.avro.{Schema => AvroSchema}
import org.apache.avro.Schema.Type._

import iceberglite.spec.types.{Literal, LiteralConversion, PrimitiveType}
import iceberglite.spec.types.Literal._
import iceberglite.spec.types.Type._

/** Decodes values of primitive types from Avro to literals. */
private[iceberglite] object LiteralDecoder {
  private type Read = AvroInput => Literal

  private val MicrosOfDay = 86400000000L
  private val NanosOfDay = 86400000000000L

  /** Returns a decoder that skips every value and returns `None`. */
  def skipping(schema: AvroSchema): AvroInput => Option[Literal] = {
    val skipper = FieldDecoder.skipper(schema)
    in => {
      skipper(in)
      None
    }
  }

  /**
   * Returns a decoder that converts values from the type in the file to `target`. The target type may differ from the
   * type in the file, because the column may have been promoted later (spec: "Schema Evolution"). If the type in the
   * file cannot be promoted to `target`, the values keep the type in the file. For example, if the source column of a
   * partition field was dropped, the type of the partition field is `unknown`, and no value can be promoted to it.
   *
   * @param field the name of the field, for messages
   */
  def of(schema: AvroSchema, target: PrimitiveType, field: String): AvroInput => Option[Literal] =
    if (schema.getType == UNION) {
      val union = AvroUnion.of(schema)
      val value = of(union.value, target, field)
      in => if (union.isValue(in)) value(in) else None
    } else if (schema.getType == NULL) _ => None
    else {
      val read = readAs(schema, target).orElse(fileType(schema).flatMap(readAs(schema, _))).getOrElse(
        throw AvroFault(
          s"The Avro type ${AvroSchemaCheck.describe(schema)} of the partition field $field cannot be read as $target"
        )
      )
      in => Some(read(in))
    }

  /** Returns the Iceberg type that an Avro type represents (spec: "Appendix A: Avro"). */
  private def fileType(schema: AvroSchema): Option[PrimitiveType] = {
    val utc = schema.getObjectProp(AvroSchemas.AdjustToUtcKey) == java.lang.Boolean.TRUE
    (schema.getType, logicalName(schema)) match {
      case (BOOLEAN, _) => Some(BooleanType)
      case (INT, Some("date")) => Some(DateType)
      case (INT, _) => Some(IntType)
      case (LONG, Some("time-micros")) => Some(TimeType)
      case (LONG, Some("timestamp-micros")) => Some(if (utc) TimestampTzType else TimestampType)
      case (LONG, Some("timestamp-nanos")) => Some(if (utc) TimestampTzNsType else TimestampNsType)
      case (LONG, _) => Some(LongType)
      case (FLOAT, _) => Some(FloatType)
      case (DOUBLE, _) => Some(DoubleType)
      case (STRING, _) => Some(StringType)
      case (BYTES | FIXED, Some("decimal")) => Some(DecimalType(38, scale(schema).getOrElse(0)))
      case (BYTES, _) => Some(BinaryType)
      case (FIXED, Some("uuid")) if schema.getFixedSize == AvroSchemas.UuidSize => Some(UuidType)
      case (FIXED, _) => Some(FixedType(schema.getFixedSize))
      case _ => None
    }
  }

  private def readAs(schema: AvroSchema, target: PrimitiveType): Option[Read] = schema.getType match {
    case INT | LONG => fromNumber(target, isDate = logicalName(schema).contains("date"))
    case FLOAT =>
      target match {
        case FloatType => Some(in => FloatLiteral(in.readFloat()))
        case DoubleType => Some(in => DoubleLiteral(in.readFloat().toDouble))
        case _ => None
      }
    case DOUBLE => if (target == DoubleType) Some(in => DoubleLiteral(in.readDouble())) else None
    case BOOLEAN => if (target == BooleanType) Some(in => BooleanLiteral(in.readBoolean())) else None
    case STRING => fromText(target)
    case BYTES => fromBytes(schema, target)(_.readBytes())
    case FIXED =>
      val size = schema.getFixedSize
      fromBytes(schema, target)(_.readFixed(size))
    case _ => None
  }

  private def fromNumber(target: PrimitiveType, isDate: Boolean): Option[Read] = target match {
    case IntType => Some(in => IntLiteral(in.readInt()))
    case LongType => Some(in => LongLiteral(in.readLong()))
    case DateType => Some(in => DateLiteral(in.readInt()))
    case TimeType => Some(in => TimeLiteral(in.readLong()))
    case TimestampType if isDate => Some(in => TimestampLiteral(ofDays(in.readInt(), MicrosOfDay)))
    case TimestampType => Some(in => TimestampLiteral(in.readLong()))
    case TimestampTzType => Some(in => TimestampTzLiteral(in.readLong()))
    case TimestampNsType if isDate => Some(in => TimestampNsLiteral(ofDays(in.readInt(), NanosOfDay)))
    case TimestampNsType => Some(in => TimestampNsLiteral(in.readLong()))
    case TimestampTzNsType => Some(in => TimestampTzNsLiteral(in.readLong()))
    case _ => None
  }

  /**
   * Converts days to microseconds or nanoseconds. A date outside of the range of the timestamps is an error (spec
   * version 3: "failing at run time"). For example, nanosecond timestamps cover only the years 1677 to 2262.
   */
  private def ofDays(days: Int, unitsOfDay: Long): Long = Try(Math.multiplyExact(days.toLong, unitsOfDay)).getOrElse(
    throw AvroFault(s"The date $days (days since 1970-01-01) is out of range for a timestamp")
  )

  private def fromText(target: PrimitiveType): Option[Read] = target match {
    case StringType => Some(in => StringLiteral(in.readText()))
    case UuidType => Some { in =>
        val text = in.readText()
        UuidLiteral(LiteralConversion.uuid(text).getOrElse(throw AvroFault(s"The partition value $text is not a UUID")))
      }
    case _ => None
  }

  private def fromBytes(schema: AvroSchema, target: PrimitiveType)(bytes: AvroInput => ByteBuffer): Option[Read] =
    target match {
      case BinaryType => Some(in => BinaryLiteral(bytes(in)))
      case FixedType(length) if schema.getType == BYTES || schema.getFixedSize == length =>
        Some(in => FixedLiteral(bytes(in)))
      case StringType if schema.getType == BYTES && logicalName(schema).isEmpty =>
        Some(in => StringLiteral(java.nio.charset.StandardCharsets.UTF_8.decode(bytes(in)).toString))
      case UuidType if schema.getType == FIXED && schema.getFixedSize == AvroSchemas.UuidSize =>
        Some { in =>
          val value = bytes(in)
          UuidLiteral(new UUID(value.getLong(0), value.getLong(java.lang.Long.BYTES)))
        }
      case DecimalType(_, targetScale) =>
        val fileScale = scale(schema).getOrElse(targetScale)
        Some { in =>
          val value = bytes(in)
          if (!value.hasRemaining) throw AvroFault("A decimal has no bytes")
          DecimalLiteral(new BigDecimal(new BigInteger(value.array), fileScale))
        }
      case _ => None
    }

  private def logicalName(schema: AvroSchema): Option[String] = Option(schema.getProp("logicalType"))

  private def scale(schema: AvroSchema): Option[Int] = schema.getObjectProp("scale") match {
    case n: java.lang.Number => Some(n.intValue)
    case _ => if (logicalName(schema).contains("decimal")) Some(0) else None
  }
}
