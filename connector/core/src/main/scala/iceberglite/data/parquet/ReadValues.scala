package iceberglite.data.parquet

import java.math.{BigDecimal, BigInteger}
import java.nio.{ByteBuffer, ByteOrder}
import java.nio.charset.StandardCharsets.UTF_8
import java.util.UUID

import org.apache.parquet.io.api.Binary

/** Converts values of Parquet's byte arrays to the representation of [[iceberglite.data.Record]]. */
private[parquet] object ReadValues {
  val UuidSize = 16
  private val Int96Size = 12
  private val JulianEpochDay = 2440588L
  private val NanosPerDay = 86400000000000L
  private val MicrosPerDay = 86400000000L

  /** Invalid bytes are replaced. */
  def text(value: Binary): String = {
    val bytes = value.toByteBuffer
    if (bytes.hasArray) new String(bytes.array, bytes.arrayOffset + bytes.position(), bytes.remaining, UTF_8)
    else UTF_8.decode(bytes).toString
  }

  /** Returns a copy of the bytes, because Parquet may reuse its array. */
  def buffer(value: Binary): ByteBuffer = ByteBuffer.wrap(value.getBytes)

  def uuid(value: Binary): UUID = {
    val bytes = value.toByteBuffer
    val start = bytes.position()
    new UUID(bytes.getLong(start), bytes.getLong(start + 8))
  }

  def decimal(value: Binary, scale: Int): BigDecimal = new BigDecimal(new BigInteger(value.getBytesUnsafe), scale)

  /**
   * Converts an INT96 timestamp to microseconds or nanoseconds since 1970. Old writers use INT96. Such a value consists
   * of the nanoseconds of the day and the Julian day number.
   */
  def int96(value: Binary, nanos: Boolean): Long = {
    if (value.length != Int96Size) throw new ArithmeticException(s"An INT96 timestamp has ${value.length} bytes")
    val bytes = value.toByteBuffer.order(ByteOrder.LITTLE_ENDIAN)
    val start = bytes.position()
    val nanosOfDay = bytes.getLong(start)
    val day = bytes.getInt(start + 8) - JulianEpochDay
    if (nanos) Math.addExact(Math.multiplyExact(day, NanosPerDay), nanosOfDay)
    else Math.addExact(Math.multiplyExact(day, MicrosPerDay), Math.floorDiv(nanosOfDay, 1000L))
  }

  /** Converts a date to microseconds or nanoseconds since 1970, for a column that was promoted to a timestamp. */
  def startOfDay(days: Int, nanos: Boolean): Long =
    Math.multiplyExact(days.toLong, if (nanos) NanosPerDay else MicrosPerDay)
}
