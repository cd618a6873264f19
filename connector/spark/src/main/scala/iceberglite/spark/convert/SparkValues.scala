package iceberglite.spark.convert

import java.nio.ByteBuffer

import scala.util.Try

import org.apache.spark.sql.types.{Decimal, DecimalType => SparkDecimal}
import org.apache.spark.unsafe.types.UTF8String

import iceberglite.spec.types.{DateTime, Literal, LiteralConversion, PrimitiveType}
import iceberglite.spec.types.Literal._
import iceberglite.spec.types.Type._

/**
 * Converts between values of the table format and values in Spark's internal format. [[SparkTypes]] determines the
 * Spark type of each value.
 */
object SparkValues {

  /**
   * Converts a value to Spark's internal format. A decimal gets the precision and scale of `t`.
   *
   * @param t the type of the column in the table; an int is converted for a column of type long, and a float for a
   *   column of type double
   */
  def toSpark(value: Literal, t: PrimitiveType): Any = value match {
    case BooleanLiteral(v) => v
    case IntLiteral(v) => if (t == LongType) v.toLong else v
    case LongLiteral(v) => v
    case FloatLiteral(v) => if (t == DoubleType) v.toDouble else v
    case DoubleLiteral(v) => v
    case DecimalLiteral(v) => t match {
        case DecimalType(precision, scale) => Decimal(v, precision, scale)
        case _ => Decimal(v, v.precision.max(v.scale).min(SparkDecimal.MAX_PRECISION), v.scale)
      }
    case DateLiteral(days) => days
    case TimeLiteral(micros) => micros
    case TimestampLiteral(micros) => micros
    case TimestampTzLiteral(micros) => micros
    case TimestampNsLiteral(nanos) => nanos
    case TimestampTzNsLiteral(nanos) => nanos
    case StringLiteral(v) => UTF8String.fromString(v)
    case UuidLiteral(v) => UTF8String.fromString(v.toString)
    case FixedLiteral(bytes) => toArray(bytes)
    case BinaryLiteral(bytes) => toArray(bytes)
  }

  /**
   * Converts a value in Spark's internal format to a value of type `t`.
   *
   * @return absent if no value of type `t` equals the Spark value. Examples are text that is not a UUID in the standard
   *   form, bytes of another length than the fixed type, and a number that is not a time of day.
   */
  def fromSpark(value: Any, t: PrimitiveType): Option[Literal] = (t, value) match {
    case (BooleanType, v: Boolean) => Some(BooleanLiteral(v))
    case (IntType, v: Number) => exactLong(v).filter(_.isValidInt).map(i => IntLiteral(i.toInt))
    case (LongType, v: Number) => exactLong(v).map(LongLiteral)
    case (FloatType, v: Float) => Some(FloatLiteral(v))
    case (DoubleType, v: Double) => Some(DoubleLiteral(v))
    case (DecimalType(_, scale), v: Decimal) => Try(DecimalLiteral(v.toJavaBigDecimal.setScale(scale))).toOption
    case (DateType, v: Int) => Some(DateLiteral(v))
    case (TimeType, v: Number) => exactLong(v).filter(t => t >= 0 && t < DateTime.MicrosPerDay).map(TimeLiteral)
    case (TimestampType, v: Long) => Some(TimestampLiteral(v))
    case (TimestampTzType, v: Long) => Some(TimestampTzLiteral(v))
    case (TimestampNsType, v: Number) => exactLong(v).map(TimestampNsLiteral)
    case (TimestampTzNsType, v: Number) => exactLong(v).map(TimestampTzNsLiteral)
    case (StringType, v: UTF8String) => Some(StringLiteral(v.toString))
    case (UuidType, v: UTF8String) => LiteralConversion.to(StringLiteral(v.toString), UuidType)
    case (FixedType(length), v: Array[Byte]) if v.length == length => Some(FixedLiteral(ByteBuffer.wrap(v)))
    case (BinaryType, v: Array[Byte]) => Some(BinaryLiteral(ByteBuffer.wrap(v)))
    case _ => None
  }

  private def exactLong(value: Number): Option[Long] = value match {
    case v @ (_: java.lang.Byte | _: java.lang.Short | _: java.lang.Integer | _: java.lang.Long) => Some(v.longValue)
    case _ => None
  }

  private def toArray(bytes: ByteBuffer): Array[Byte] = {
    val array = new Array[Byte](bytes.remaining)
    bytes.duplicate().get(array)
    array
  }
}
