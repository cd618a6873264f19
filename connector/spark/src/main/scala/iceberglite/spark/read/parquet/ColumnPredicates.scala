package iceberglite.spark.read.parquet

import java.nio.charset.StandardCharsets.UTF_8
import java.util.UUID

import scala.collection.JavaConverters._

import org.apache.parquet.filter2.predicate.Operators.{Column, SupportsLtGt}
import org.apache.parquet.filter2.predicate.{FilterApi, FilterPredicate, SparkFilterApi}
import org.apache.parquet.io.api.Binary
import org.apache.parquet.schema.LogicalTypeAnnotation._
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName._

import iceberglite.spec.types.{Literal, Type}
import iceberglite.spec.types.Literal._
import iceberglite.spec.types.Type._

/** Creates Parquet filters on one column of a file. A filter is absent if the file's statistics cannot decide it. */
private[parquet] trait ColumnPredicates {
  def isNull: FilterPredicate
  def notNull: FilterPredicate
  def less(value: Literal): Option[FilterPredicate]
  def lessOrEqual(value: Literal): Option[FilterPredicate]
  def greater(value: Literal): Option[FilterPredicate]
  def greaterOrEqual(value: Literal): Option[FilterPredicate]
  def equalToAny(values: Set[Literal]): Option[FilterPredicate]
  def startsWith(prefix: String): Option[FilterPredicate]
}

private[parquet] object ColumnPredicates {

  /**
   * The maximum number of values of an IN list that are compared with statistics one by one. For a longer list, these
   * comparisons cost more than they save.
   */
  val MaxTestedValues = 20

  /**
   * Returns the filters on a column; absent if Parquet's statistics cannot be used for its type.
   *
   * @param expected the type of the column in the table
   * @param mayContainNan whether the column may contain NaN, which is the greatest value in Spark but not in statistics
   */
  def of(column: FilterColumn, expected: Type, mayContainNan: Boolean): Option[ColumnPredicates] = {
    val path = column.path.toArray
    val file = column.parquetType
    (file.getPrimitiveTypeName, Option(file.getLogicalTypeAnnotation)) match {
      case (_, Some(i: IntLogicalTypeAnnotation)) if !i.isSigned => None
      case (_, Some(t: TimestampLogicalTypeAnnotation)) if t.getUnit == TimeUnit.MILLIS => None
      case (INT32, _) => Some(new OrderedPredicates(SparkFilterApi.intColumn(path), asInt(expected)))
      case (INT64, _) => Some(new OrderedPredicates(SparkFilterApi.longColumn(path), asLong))
      case (FLOAT, _) =>
        Some(new FloatingPredicates(SparkFilterApi.floatColumn(path), asFloat, floatZeros, mayContainNan))
      case (DOUBLE, _) =>
        Some(new FloatingPredicates(SparkFilterApi.doubleColumn(path), asDouble, doubleZeros, mayContainNan))
      case (BOOLEAN, _) => Some(new BooleanPredicates(path))
      case (BINARY, Some(_: DecimalLogicalTypeAnnotation)) => None
      case (BINARY, _) => Some(new BytesPredicates(path, asBytes))
      case (FIXED_LEN_BYTE_ARRAY, _) => Some(new BytesPredicates(path, asFixed(_, file.getTypeLength)))
      case (INT96, _) => None
    }
  }

  /**
   * Converts a literal to the file's type. Literals for a date column that was promoted to a timestamp are timestamps;
   * they are not converted.
   */
  private def asInt(expected: Type)(value: Literal): Option[Integer] = (value, expected) match {
    case (IntLiteral(v), _) => Some(v)
    case (LongLiteral(v), _) if v.isValidInt => Some(v.toInt)
    case (DateLiteral(days), DateType) => Some(days)
    case (DecimalLiteral(v), _) if v.unscaledValue.bitLength < 32 => Some(v.unscaledValue.intValue)
    case _ => None
  }

  private def asLong(value: Literal): Option[java.lang.Long] = value match {
    case LongLiteral(v) => Some(v)
    case TimeLiteral(micros) => Some(micros)
    case TimestampLiteral(micros) => Some(micros)
    case TimestampTzLiteral(micros) => Some(micros)
    case TimestampNsLiteral(nanos) => Some(nanos)
    case TimestampTzNsLiteral(nanos) => Some(nanos)
    case DecimalLiteral(v) if v.unscaledValue.bitLength < 64 => Some(v.unscaledValue.longValue)
    case _ => None
  }

  private def asFloat(value: Literal): Option[java.lang.Float] = value match {
    case FloatLiteral(v) => Some(v)
    case DoubleLiteral(v) if v.toFloat.toDouble == v => Some(v.toFloat)
    case _ => None
  }

  private def asDouble(value: Literal): Option[java.lang.Double] = value match {
    case DoubleLiteral(v) => Some(v)
    case _ => None
  }

  private val floatZeros: (java.lang.Float, java.lang.Float) = (-0.0f, 0.0f)
  private val doubleZeros: (java.lang.Double, java.lang.Double) = (-0.0d, 0.0d)

  private def asBytes(value: Literal): Option[Binary] = value match {
    case StringLiteral(text) => Some(Binary.fromString(text))
    case BinaryLiteral(bytes) => Some(Binary.fromConstantByteBuffer(bytes.duplicate()))
    case _ => None
  }

  private def asFixed(value: Literal, length: Int): Option[Binary] = value match {
    case UuidLiteral(v) => Some(uuid(v))
    case FixedLiteral(bytes) if bytes.remaining == length => Some(Binary.fromConstantByteBuffer(bytes.duplicate()))
    case DecimalLiteral(v) =>
      val digits = v.unscaledValue.toByteArray
      if (digits.length > length) None
      else {
        val sign: Byte = if (v.signum < 0) -1 else 0
        Some(Binary.fromConstantByteArray(Array.fill(length - digits.length)(sign) ++ digits))
      }
    case _ => None
  }

  private def uuid(value: UUID): Binary = {
    val bytes = java.nio.ByteBuffer.allocate(16)
    bytes.putLong(value.getMostSignificantBits).putLong(value.getLeastSignificantBits)
    Binary.fromConstantByteArray(bytes.array)
  }
}

/**
 * Creates filters on ordered values.
 *
 * @param convert converts a value of the table's type to the file's type; absent if the file's type cannot represent it
 */
private class OrderedPredicates[T <: AnyRef with Comparable[T], C <: Column[T] with SupportsLtGt](
    column: C,
    convert: Literal => Option[T]
) extends ColumnPredicates {
  override def isNull: FilterPredicate = FilterApi.eq[T, C](column, null.asInstanceOf[T])
  override def notNull: FilterPredicate = FilterApi.notEq[T, C](column, null.asInstanceOf[T])
  override def less(value: Literal): Option[FilterPredicate] = convert(value).map(FilterApi.lt[T, C](column, _))
  override def lessOrEqual(value: Literal): Option[FilterPredicate] =
    convert(value).map(FilterApi.ltEq[T, C](column, _))
  override def greater(value: Literal): Option[FilterPredicate] = convert(value).map(FilterApi.gt[T, C](column, _))
  override def greaterOrEqual(value: Literal): Option[FilterPredicate] =
    convert(value).map(FilterApi.gtEq[T, C](column, _))

  override def equalToAny(values: Set[Literal]): Option[FilterPredicate] = {
    val converted = values.toVector.map(convert)
    if (converted.isEmpty || converted.exists(_.isEmpty)) None else Some(anyOf(converted.flatten))
  }

  override def startsWith(prefix: String): Option[FilterPredicate] = None

  /**
   * Returns a filter for a list of values. For a long list, Parquet looks up each value in dictionaries, but compares
   * only the range of the list with the bounds.
   */
  protected def anyOf(values: Vector[T]): FilterPredicate =
    if (values.size > ColumnPredicates.MaxTestedValues)
      FilterApi.in[T, C](column, new java.util.HashSet[T](values.asJava))
    else values.map(v => FilterApi.eq[T, C](column, v): FilterPredicate).reduce(FilterApi.or(_, _))
}

/** Creates filters on floating-point numbers. 0.0 and -0.0 are equal in Spark but not in Parquet. */
final private class FloatingPredicates[T <: Number with Comparable[T], C <: Column[T] with SupportsLtGt](
    column: C,
    convert: Literal => Option[T],
    zeros: (T, T),
    mayContainNan: Boolean
) extends OrderedPredicates[T, C](column, convert) {
  private val (negative, positive) = zeros

  private def isZero(value: T): Boolean = value.doubleValue == 0.0d

  override def less(value: Literal): Option[FilterPredicate] =
    convert(value).map(v => FilterApi.lt[T, C](column, if (isZero(v)) negative else v))

  override def lessOrEqual(value: Literal): Option[FilterPredicate] =
    convert(value).map(v => FilterApi.ltEq[T, C](column, if (isZero(v)) positive else v))

  override def greater(value: Literal): Option[FilterPredicate] =
    if (mayContainNan) None else convert(value).map(v => FilterApi.gt[T, C](column, if (isZero(v)) positive else v))

  override def greaterOrEqual(value: Literal): Option[FilterPredicate] =
    if (mayContainNan) None else convert(value).map(v => FilterApi.gtEq[T, C](column, if (isZero(v)) negative else v))

  override protected def anyOf(values: Vector[T]): FilterPredicate =
    super.anyOf(values.flatMap(v => if (isZero(v)) Vector(negative, positive) else Vector(v)))
}

final private class BooleanPredicates(path: Array[String]) extends ColumnPredicates {
  private val column = SparkFilterApi.booleanColumn(path)
  override def isNull: FilterPredicate = FilterApi.eq(column, null.asInstanceOf[java.lang.Boolean])
  override def notNull: FilterPredicate = FilterApi.notEq(column, null.asInstanceOf[java.lang.Boolean])
  override def less(value: Literal): Option[FilterPredicate] = None
  override def lessOrEqual(value: Literal): Option[FilterPredicate] = None
  override def greater(value: Literal): Option[FilterPredicate] = None
  override def greaterOrEqual(value: Literal): Option[FilterPredicate] = None
  override def startsWith(prefix: String): Option[FilterPredicate] = None
  override def equalToAny(values: Set[Literal]): Option[FilterPredicate] = values.toSeq match {
    case Seq(BooleanLiteral(v)) => Some(FilterApi.eq(column, java.lang.Boolean.valueOf(v)))
    case _ => None
  }
}

/**
 * Creates filters on strings, binaries, UUIDs and decimals. Parquet compares decimals by their value, and values of the
 * other types by their unsigned bytes.
 */
final private class BytesPredicates(path: Array[String], convert: Literal => Option[Binary])
    extends OrderedPredicates(SparkFilterApi.binaryColumn(path), convert) {

  override def startsWith(prefix: String): Option[FilterPredicate] = {
    val column = SparkFilterApi.binaryColumn(path)
    val first = prefix.getBytes(UTF_8)
    // The last byte can be incremented without overflow, because no byte of UTF-8 is 0xFF.
    first.lastOption.map { last =>
      val after = first.init :+ (last + 1).toByte
      FilterApi.and(
        FilterApi.gtEq(column, Binary.fromConstantByteArray(first)),
        FilterApi.lt(column, Binary.fromConstantByteArray(after))
      )
    }
  }
}
