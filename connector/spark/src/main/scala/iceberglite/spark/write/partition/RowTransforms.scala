package iceberglite.spark.write.partition

import java.math.BigDecimal
import java.util.UUID

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.{Decimal, DataType}
import org.apache.spark.unsafe.types.UTF8String

import iceberglite.spark.convert.SparkValues
import iceberglite.spark.function.Hashes
import iceberglite.spark.write.files.{TimeOfDay, UuidText}
import iceberglite.spark.write.partition.PartitionColumn.{AlwaysNull, NumberOf, Numbers, Objects}
import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.partition.{Bucket, Day, Hour, Identity, Month, Transform, Truncate, Void, Year}
import iceberglite.spec.types.{DateTime, Literal, Murmur3, PrimitiveType}
import iceberglite.spec.types.Literal._
import iceberglite.spec.types.Type._

/**
 * Creates the partition columns that apply the transforms of the specification to Spark's rows. Common transforms
 * compute numbers directly from the row. Other transforms use [[Transform.apply]]. The results are the same.
 *
 * @param column the full name of the source column, for messages
 * @param source the type of the column in the table
 * @param dataType the type of the column in the rows
 */
final private[write] class RowTransforms(
    column: String,
    source: PrimitiveType,
    dataType: DataType,
    access: ColumnAccess
) {

  def of(transform: Transform): PartitionColumn = {
    val specialized = transform match {
      case Void => Some(AlwaysNull)
      case Identity => identity
      case bucket: Bucket => hashOfValue.map(h => numbers(IntType)((row, i) => bucket.ofHash(h(row, i).toInt).toLong))
      case truncate: Truncate => truncated(truncate)
      case Year => days.map(d => timeUnits(transform)((row, i) => DateTime.yearsFromDays(d(row, i).toInt).toLong))
      case Month => days.map(d => timeUnits(transform)((row, i) => DateTime.monthsFromDays(d(row, i).toInt).toLong))
      case Day => days.map(d => timeUnits(transform)(d))
      case Hour => micros.map(m => timeUnits(transform)((row, i) => DateTime.hoursFromMicros(m(row, i)).toLong))
      case _ => None
    }
    specialized.getOrElse(genericTransform(transform))
  }

  private def numbers(result: PrimitiveType)(numberOf: NumberOf): PartitionColumn =
    new Numbers(access, numberOf, RowTransforms.literal(result))

  private def timeUnits(transform: Transform)(numberOf: NumberOf): PartitionColumn =
    numbers(transform.resultType(source))(numberOf)

  private def identity: Option[PartitionColumn] = source match {
    case StringType => Some(new Objects(access, (row, i) => row.getUTF8String(i), RowTransforms.toLiteral))
    case UuidType => Some(new Objects(access, (row, i) => uuid(row, i), { case id: UUID => UuidLiteral(id) }))
    case _ => numberOfValue.map(numbers(source)(_))
  }

  /**
   * Returns a function that reads the value as a number; absent if values of the type cannot be represented as numbers.
   */
  private def numberOfValue: Option[NumberOf] = source match {
    case BooleanType => Some((row, i) => if (row.getBoolean(i)) 1L else 0L)
    case IntType | DateType => RowTransforms.intOf(dataType)
    case TimeType => Some((row, i) => TimeOfDay.checked(row.getLong(i), column))
    case LongType | TimestampType | TimestampTzType | TimestampNsType | TimestampTzNsType =>
      Some((row, i) => row.getLong(i))
    case FloatType => Some((row, i) => java.lang.Float.floatToIntBits(row.getFloat(i)).toLong)
    case DoubleType => Some((row, i) => java.lang.Double.doubleToLongBits(row.getDouble(i)))
    case DecimalType(precision, scale) if precision <= Decimal.MAX_LONG_DIGITS =>
      Some((row, i) => row.getDecimal(i, precision, scale).toUnscaledLong)
    case _ => None
  }

  private def hashOfValue: Option[NumberOf] = source match {
    case IntType | DateType =>
      RowTransforms.intOf(dataType).map(int => (row, i) => Murmur3.hashInt(int(row, i).toInt).toLong)
    case LongType | TimeType | TimestampType | TimestampTzType =>
      Some((row, i) => Murmur3.hashLong(row.getLong(i)).toLong)
    case TimestampNsType | TimestampTzNsType =>
      Some((row, i) => Murmur3.hashLong(DateTime.microsFromNanos(row.getLong(i))).toLong)
    case DecimalType(precision, scale) => Some((row, i) => Hashes.decimal(row.getDecimal(i, precision, scale)).toLong)
    case StringType => Some((row, i) => Hashes.string(row.getUTF8String(i)).toLong)
    case FixedType(_) | BinaryType => Some { (row, i) =>
        val bytes = row.getBinary(i)
        Murmur3.hashBytes(bytes, 0, bytes.length).toLong
      }
    case _ => None
  }

  private def truncated(truncate: Truncate): Option[PartitionColumn] = source match {
    case IntType =>
      RowTransforms.intOf(dataType).map(int => numbers(source)((row, i) => truncate.ofInt(int(row, i).toInt).toLong))
    case LongType => Some(numbers(source)((row, i) => truncate.ofLong(row.getLong(i))))
    // Unscaled values with 18 digits cannot overflow a long.
    case DecimalType(precision, _) if precision <= Decimal.MAX_LONG_DIGITS =>
      numberOfValue.map(unscaled => numbers(source)((row, i) => truncate.ofLong(unscaled(row, i))))
    case StringType =>
      Some(new Objects(access, (row, i) => truncateText(row.getUTF8String(i), truncate.width), RowTransforms.toLiteral))
    case _ => None
  }

  /** Truncates text to a number of code points. Each code point has at least one byte. */
  private def truncateText(text: UTF8String, width: Int): UTF8String =
    if (text.numBytes <= width) text else text.substring(0, width)

  /** Returns a function that computes the days since 1970-01-01 of a date or timestamp; absent for other types. */
  private def days: Option[NumberOf] = source match {
    case DateType => Some((row, i) => row.getInt(i).toLong)
    case _ => micros.map(m => (row, i) => DateTime.daysFromMicros(m(row, i)).toLong)
  }

  private def micros: Option[NumberOf] = source match {
    case TimestampType | TimestampTzType => Some((row, i) => row.getLong(i))
    case TimestampNsType | TimestampTzNsType => Some((row, i) => DateTime.microsFromNanos(row.getLong(i)))
    case _ => None
  }

  private def uuid(row: InternalRow, i: Int): UUID = UuidText.parse(row.getUTF8String(i), column)

  private def genericTransform(transform: Transform): PartitionColumn = new Objects(
    access,
    (row, i) => transform(literalOf(row, i)).orNull,
    { case literal: Literal => literal }
  )

  private def literalOf(row: InternalRow, i: Int): Literal =
    if (source == UuidType) UuidLiteral(uuid(row, i))
    else SparkValues.fromSpark(row.get(i, dataType), source).getOrElse(
      throw InvalidArgument(
        s"value of column $column",
        String.valueOf(row.get(i, dataType)),
        s"It is not a value of type $source"
      )
    )
}

private[write] object RowTransforms {
  private val toLiteral: AnyRef => Literal = { case t: UTF8String => StringLiteral(t.toString) }

  private def intOf(dataType: DataType): Option[NumberOf] = dataType match {
    case org.apache.spark.sql.types.ByteType => Some((row, i) => row.getByte(i).toLong)
    case org.apache.spark.sql.types.ShortType => Some((row, i) => row.getShort(i).toLong)
    case _ => Some((row, i) => row.getInt(i).toLong)
  }

  /** Returns a function that converts a number to a literal of a type. */
  private def literal(t: PrimitiveType): Long => Literal = t match {
    case BooleanType => n => BooleanLiteral(n != 0)
    case IntType => n => IntLiteral(n.toInt)
    case LongType => n => LongLiteral(n)
    case FloatType => n => FloatLiteral(java.lang.Float.intBitsToFloat(n.toInt))
    case DoubleType => n => DoubleLiteral(java.lang.Double.longBitsToDouble(n))
    case DecimalType(_, scale) => n => DecimalLiteral(BigDecimal.valueOf(n, scale))
    case DateType => n => DateLiteral(n.toInt)
    case TimeType => n => TimeLiteral(n)
    case TimestampType => n => TimestampLiteral(n)
    case TimestampTzType => n => TimestampTzLiteral(n)
    case TimestampNsType => n => TimestampNsLiteral(n)
    case TimestampTzNsType => n => TimestampTzNsLiteral(n)
    case other => throw InvalidArgument("type of a partition field", other.toString, "Its values are not numbers")
  }
}
