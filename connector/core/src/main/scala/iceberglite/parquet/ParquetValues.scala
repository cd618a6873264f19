package iceberglite.parquet

import java.math.{BigDecimal, BigInteger}
import java.util.UUID

import org.apache.parquet.io.api.Binary
import org.apache.parquet.schema.{PrimitiveType => ParquetLeaf}
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName.INT64
import org.apache.parquet.schema.LogicalTypeAnnotation.{
  DecimalLogicalTypeAnnotation,
  IntLogicalTypeAnnotation,
  TimeLogicalTypeAnnotation,
  TimeUnit,
  TimestampLogicalTypeAnnotation
}

import iceberglite.avro.AvroSchemas
import iceberglite.spec.types.{Literal, PrimitiveType, SingleValue}
import iceberglite.spec.types.Literal._
import iceberglite.spec.types.Type._

/** Converts the values in Parquet statistics to literals (spec: "Appendix A: Parquet"). */
private[iceberglite] object ParquetValues {

  /**
   * Returns the value as a literal of the column's type. Returns `None` if the type in the file cannot be converted to
   * the column's type, or if an imported file has a value that the column's type does not allow. In these cases, the
   * column gets no bound, because a wrong bound could make scans skip matching rows.
   */
  def literal(value: Any, leaf: ParquetLeaf, target: PrimitiveType): Option[Literal] = (value, target) match {
    case (v: Boolean, BooleanType) => Some(BooleanLiteral(v))
    case (v: Float, FloatType) => Some(FloatLiteral(v))
    case (v: Float, DoubleType) => Some(DoubleLiteral(v.toDouble))
    case (v: Double, DoubleType) => Some(DoubleLiteral(v))
    case (_: Int | _: Long, _) if isUnsigned(leaf) => None
    case (v: Int, _) => ofNumber(v.toLong, leaf, target)
    case (v: Long, _) => ofNumber(v, leaf, target)
    case (v: Binary, _) => ofBytes(v, leaf, target)
    case _ => None
  }

  /**
   * Returns whether a column has an unsigned type. Only imported files have such columns. Their statistics are in
   * unsigned order, whereas Iceberg's integer types are signed.
   */
  private def isUnsigned(leaf: ParquetLeaf): Boolean = leaf.getLogicalTypeAnnotation match {
    case i: IntLogicalTypeAnnotation => !i.isSigned
    case _ => false
  }

  private def ofNumber(v: Long, leaf: ParquetLeaf, target: PrimitiveType): Option[Literal] = target match {
    case IntType => if (v.toInt == v) Some(IntLiteral(v.toInt)) else None
    case LongType => Some(LongLiteral(v))
    case DateType => if (v.toInt == v) Some(DateLiteral(v.toInt)) else None
    case TimeType => micros(v, leaf).map(TimeLiteral)
    case TimestampType => micros(v, leaf).map(TimestampLiteral)
    case TimestampTzType => micros(v, leaf).map(TimestampTzLiteral)
    case TimestampNsType => if (unit(leaf).contains(TimeUnit.NANOS)) Some(TimestampNsLiteral(v)) else None
    case TimestampTzNsType => if (unit(leaf).contains(TimeUnit.NANOS)) Some(TimestampTzNsLiteral(v)) else None
    case DecimalType(_, scale) => ofUnscaled(BigInteger.valueOf(v), leaf, scale)
    case _ => None
  }

  private def unit(leaf: ParquetLeaf): Option[TimeUnit] = leaf.getLogicalTypeAnnotation match {
    case t: TimestampLogicalTypeAnnotation => Some(t.getUnit)
    case t: TimeLogicalTypeAnnotation => Some(t.getUnit)
    case _ => None
  }

  /**
   * Converts a timestamp or time to microseconds. Imported files may contain milliseconds. Nanoseconds are not
   * converted, because they would have to be rounded down for a lower bound and up for an upper bound.
   */
  private def micros(v: Long, leaf: ParquetLeaf): Option[Long] = unit(leaf) match {
    case Some(TimeUnit.MILLIS) if math.abs(v) < Long.MaxValue / 1000 => Some(v * 1000)
    case Some(TimeUnit.MICROS) => Some(v)
    // Without a time unit, only 64-bit values are microseconds. A 32-bit column contains dates, and was promoted to
    // timestamp later.
    case None if leaf.getPrimitiveTypeName == INT64 => Some(v)
    case _ => None
  }

  private def ofUnscaled(unscaled: BigInteger, leaf: ParquetLeaf, scale: Int): Option[Literal] =
    leaf.getLogicalTypeAnnotation match {
      case d: DecimalLogicalTypeAnnotation if d.getScale == scale =>
        Some(DecimalLiteral(new BigDecimal(unscaled, scale)))
      case _ => None
    }

  private def ofBytes(v: Binary, leaf: ParquetLeaf, target: PrimitiveType): Option[Literal] = target match {
    // A bound that is not valid UTF-8 is ignored. A writer may have truncated such a bound within a character.
    case StringType => SingleValue.decodeValid(StringType, java.nio.ByteBuffer.wrap(v.getBytes))
    case BinaryType => Some(BinaryLiteral(java.nio.ByteBuffer.wrap(v.getBytes)))
    case FixedType(length) if v.length == length => Some(FixedLiteral(java.nio.ByteBuffer.wrap(v.getBytes)))
    case UuidType if v.length == AvroSchemas.UuidSize =>
      val bytes = java.nio.ByteBuffer.wrap(v.getBytes)
      Some(UuidLiteral(new UUID(bytes.getLong, bytes.getLong)))
    case DecimalType(_, scale) if v.length > 0 => ofUnscaled(new BigInteger(v.getBytes), leaf, scale)
    case _ => None
  }
}
