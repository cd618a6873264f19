package iceberglite.spark.read.soundness

import java.math.{BigDecimal, BigInteger}
import java.nio.ByteBuffer
import java.util.UUID

import scala.util.Random

import iceberglite.spec.types.{DateTime, Literal, PrimitiveType}
import iceberglite.spec.types.Literal._
import iceberglite.spec.types.Type._

/**
 * The values of each type in random tables and predicates. They include the limits of ranges, 0.0 and -0.0, NaN,
 * strings that are so long that their bounds are truncated, and times of clock changes. The values of most types are
 * sorted, so that a file can contain neighbouring values.
 */
object SampleValues {
  private val ints: Vector[Int] =
    Vector(Int.MinValue, Int.MinValue + 1, -1000, -11, -10, -1, 0, 1, 2, 9, 10, 11, 99, 100, 1000) ++
      Vector(Int.MaxValue - 1, Int.MaxValue)

  private val longs: Vector[Long] =
    (ints.map(_.toLong) ++ Vector(Long.MinValue, Long.MinValue + 1, -(1L << 40), Int.MaxValue + 1L, 1L << 40) :+
      Long.MaxValue).sorted

  private val floats: Vector[Float] = Vector(Float.NegativeInfinity, -Float.MaxValue, -1.5f, -0.1f, -0.0f, 0.0f) ++
    Vector(Float.MinPositiveValue, 0.1f, 1.5f, 2f, 1e10f, Float.MaxValue, Float.PositiveInfinity, Float.NaN)

  private val doubles: Vector[Double] =
    Vector(Double.NegativeInfinity, -Double.MaxValue, -1.5, -0.1, -0.0, 0.0, Double.MinPositiveValue) ++
      Vector(0.1f.toDouble, 0.1, 0.2, 1.5, 2.0, 1e10, Double.MaxValue, Double.PositiveInfinity, Double.NaN).distinct

  private val days: Vector[Int] = (
    Vector("0001-01-01", "0001-12-31", "1582-10-04", "1582-10-15", "1899-12-31", "1969-12-30", "1969-12-31") ++
      Vector("1970-01-01", "1970-01-02", "1970-02-01", "1987-10-25", "2010-11-07", "2013-02-28", "2013-03-10") ++
      Vector("2013-11-03", "2013-12-31", "2014-01-01", "2024-02-29", "9999-12-30")
  ).map(DateTime.parseDate(_).get)

  /**
   * Clock changes in New York, clock changes in St. John's, where clocks changed one minute after midnight, a midnight
   * in Kathmandu, and the time at which Apia skipped a day.
   */
  private val clockChanges: Vector[Long] = (
    Vector("2013-03-10T06:59:59.999999", "2013-03-10T07:00:00", "2013-11-03T05:30:00", "2013-11-03T06:30:00") ++
      Vector("2010-11-07T02:29:59.999999", "2010-11-07T02:30:30", "2010-11-07T03:15:00", "2010-11-07T03:30:00") ++
      Vector("2013-12-31T18:14:59.999999", "2013-12-31T18:15:00", "2011-12-30T10:00:00", "2011-12-30T09:59:59")
  ).map(DateTime.parseTimestamp(_).get)

  private val moments: Vector[Long] = {
    val hours = Vector(0L, 1L, 5L * DateTime.MicrosPerHour, DateTime.MicrosPerDay - 1)
    // There are no fractions of the last second before 1970, because the ORC library cannot represent them.
    (clockChanges ++ days.flatMap(d => hours.map(_ + d * DateTime.MicrosPerDay)) :+ 253402300799999999L)
      .filterNot(m => m > -1000000L && m < 0L).sorted
  }

  private val texts: Vector[String] = Vector("", "A", "a", "ab", "ab%", "abc", "abcdefghijklmnop") ++
    Vector("abcdefghijklmnopq", "abcdefghijklmnor", "b", "b'c_") ++
    Vector("x" * 15 + "\uD83D\uDE00", "x" * 15 + "\uD83D\uDE01y", "x" * 40) ++
    Vector("é", "\uFFEE", "\uFFFF", "\uD83D\uDE00", "\uD83D\uDE00" * 20, "\uDBFF\uDFFF" * 17)

  private val bytes: Vector[Array[Byte]] = Vector("", "00", "00ff", "7f", "80", "ff", "ff" * 16, "ff" * 20).map(hex =>
    hex.grouped(2).filter(_.nonEmpty).map(Integer.parseInt(_, 16).toByte).toArray
  )

  /** UUIDs for which signed and unsigned comparison give different orders. */
  private val uuids: Vector[UUID] = {
    val longs = Vector(0L, 1L, Long.MaxValue, Long.MinValue, -1L)
    for (most <- longs; least <- longs) yield new UUID(most, least)
  }

  private val times: Vector[Long] = Vector(0L, 1L, DateTime.MicrosPerHour - 1, DateTime.MicrosPerHour) ++
    Vector(DateTime.MicrosPerDay / 2, DateTime.MicrosPerDay - 1)

  /** Day boundaries, the limits of the range, and values that differ by less than a microsecond. */
  private val nanos: Vector[Long] = {
    val day = DateTime.MicrosPerDay * 1000L
    (Vector(Long.MinValue / 1000L * 1000L, Long.MaxValue / 1000L * 1000L, -day - 1, -day, 0L, 1L, 999L, 1000L, 1001L) ++
      Vector(day - 1, day, 1709164800000000000L, 1709164800000000001L)).sorted
  }

  private def fixed(length: Int): Vector[Literal] = Vector(0x00, 0x01, 0x7f, 0x80, 0xff).flatMap { last =>
    Vector(0x00, 0x80).map { first =>
      FixedLiteral(ByteBuffer.wrap((first +: Vector.fill(length - 1)(last)).map(_.toByte).toArray))
    }
  }

  private def decimals(t: DecimalType): Vector[Literal] = {
    val largest = BigInteger.TEN.pow(t.precision).subtract(BigInteger.ONE)
    val unscaled = Vector(-1000L, -101L, -100L, -1L, 0L, 1L, 99L, 100L, 101L, 12345L).map(BigInteger.valueOf)
    (largest.negate +: unscaled :+ largest).map(u => DecimalLiteral(new BigDecimal(u, t.scale)))
  }

  /** Returns all values of the type. */
  def of(t: PrimitiveType): Vector[Literal] = t match {
    case BooleanType => Vector(BooleanLiteral(false), BooleanLiteral(true))
    case IntType => ints.map(IntLiteral)
    case LongType => longs.map(LongLiteral)
    case FloatType => floats.map(FloatLiteral)
    case DoubleType => doubles.map(DoubleLiteral)
    case d: DecimalType => decimals(d)
    case DateType => days.map(DateLiteral)
    case TimestampType => moments.map(TimestampLiteral)
    case TimestampTzType => moments.map(TimestampTzLiteral)
    case StringType => texts.map(StringLiteral)
    case BinaryType => bytes.map(b => BinaryLiteral(ByteBuffer.wrap(b)))
    case UuidType => uuids.map(UuidLiteral)
    case FixedType(length) => fixed(length)
    case TimeType => times.map(TimeLiteral)
    case TimestampNsType => nanos.map(TimestampNsLiteral)
    case TimestampTzNsType => nanos.map(TimestampTzNsLiteral)
    case other => throw new IllegalArgumentException(other.toString)
  }

  def randomValue(t: PrimitiveType, random: Random): Literal = {
    val pool = of(t)
    pool(random.nextInt(pool.size))
  }

  /** Returns a SQL literal of the value. For a type that Spark SQL lacks, this is a string, bytes or a number. */
  def toSql(value: Literal): String = value match {
    case BooleanLiteral(v) => v.toString
    case IntLiteral(v) => s"CAST('$v' AS INT)"
    case LongLiteral(v) => s"CAST('$v' AS BIGINT)"
    case FloatLiteral(v) => s"CAST('$v' AS FLOAT)"
    case DoubleLiteral(v) => s"CAST('$v' AS DOUBLE)"
    case DecimalLiteral(v) => s"CAST('${v.toPlainString}' AS DECIMAL(${v.precision.max(v.scale)}, ${v.scale}))"
    case DateLiteral(v) => s"DATE '${DateTime.formatDate(v)}'"
    case TimestampLiteral(v) => s"TIMESTAMP_NTZ '${DateTime.formatTimestamp(v)}'"
    case TimestampTzLiteral(v) => s"TIMESTAMP '${DateTime.formatTimestamp(v)}Z'"
    case StringLiteral(v) => quotedString(v)
    case BinaryLiteral(v) => hex(v).mkString("X'", "", "'")
    case UuidLiteral(v) => s"'$v'"
    case FixedLiteral(v) => hex(v).mkString("X'", "", "'")
    case TimeLiteral(v) => s"${v}L"
    case TimestampNsLiteral(v) => s"${v}L"
    case TimestampTzNsLiteral(v) => s"${v}L"
    case other => throw new IllegalArgumentException(other.toString)
  }

  def quotedString(text: String): String = s"'${text.replace("\\", "\\\\").replace("'", "\\'")}'"

  private def hex(bytes: ByteBuffer): Seq[String] =
    (bytes.position() until bytes.limit()).map(i => f"${bytes.get(i) & 0xff}%02X")
}
