package iceberglite.data

import java.util.{Arrays, Objects}

/**
 * The values of a struct in the order of its fields. A null value is represented by null, and other values as follows.
 *
 * | type | value |
 * |---|---|
 * | boolean, int, long, float, double | the boxed value |
 * | decimal | `java.math.BigDecimal` of the column's scale |
 * | date | `java.lang.Integer`, days since 1970-01-01 |
 * | time, timestamp, timestamptz | `java.lang.Long`, microseconds |
 * | timestamp_ns, timestamptz_ns | `java.lang.Long`, nanoseconds |
 * | string | `String` |
 * | uuid | `java.util.UUID` |
 * | fixed, binary, geometry, geography | `java.nio.ByteBuffer`, from position to limit |
 * | variant | [[Variant]] |
 * | struct | [[Record]] |
 * | list | `Vector[AnyRef]` |
 * | map | `Vector[(AnyRef, AnyRef)]`, in the order of the file |
 */
final class Record(val values: Array[AnyRef]) {
  def apply(ordinal: Int): AnyRef = values(ordinal)

  def size: Int = values.length

  /**
   * Compares the values, including nested records. Floating point numbers outside of lists and maps are compared by
   * their bits.
   */
  override def equals(that: Any): Boolean = that match {
    case other: Record => Arrays.equals(values, other.values)
    case _ => false
  }

  override def hashCode: Int = Objects.hash(values: _*)

  override def toString: String = values.mkString("(", ", ", ")")
}

object Record {
  def of(values: Any*): Record = new Record(values.map(_.asInstanceOf[AnyRef]).toArray)
}

/**
 * A variant in Parquet's variant encoding, which consists of two parts. The parts are the bytes from position to limit.
 */
final case class Variant(metadata: java.nio.ByteBuffer, value: java.nio.ByteBuffer)
