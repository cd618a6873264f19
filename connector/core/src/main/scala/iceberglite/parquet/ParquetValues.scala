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

/** Converts values of Parquet statistics to literals (spec: "Appendix A: Parquet"). */
private[parquet] object ParquetValues {

  /**
   * Returns the value as a literal of the column's type. Returns `None` if the file's type cannot be converted, or if
   * an imported file has a value that the column's type does not allow. In these cases, the column has no bound,
   * because scans could skip matching rows based on a wrong bound.
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
   * Returns whether a column is unsigned. Only imported files have unsigned columns. The order of their statistics
   * differs from the order of Iceberg's signed types.
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
   * Converts to microseconds. Imported files may use milliseconds. Nanoseconds are not converted, because they would
   * have to be rounded down for a lower bound and up for an upper bound.
   */
  private def micros(v: Long, leaf: ParquetLeaf): Option[Long] = unit(leaf) match {
    case Some(TimeUnit.MILLIS) if math.abs(v) < Long.MaxValue / 1000 => Some(v * 1000)
    case Some(TimeUnit.MICROS) => Some(v)
    // A 32-bit column without a unit is a column of dates that was promoted to timestamps.
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
    // The bound is ignored if it is not valid UTF-8. A writer may have truncated it within a character.
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
