package iceberglite.data.parquet

import java.nio.{ByteBuffer, ByteOrder}

import org.apache.parquet.column.page.{DataPageV1, PageReader}
import org.apache.parquet.column.{ColumnDescriptor, Encoding}
import org.apache.parquet.io.ParquetDecodingException
import org.apache.parquet.io.api.{Binary, PrimitiveConverter}
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName._

/**
 * Reads a column whose pages all have version 1 and plain encoding, as in the metadata files that this library writes.
 * Parquet's own reader, which supports all encodings, reads the bytes of a page one by one.
 */
final private[parquet] class PlainColumn(column: ColumnDescriptor, pages: PageReader, converter: PrimitiveConverter)
    extends ColumnCursor {
  private val kind = column.getPrimitiveType.getPrimitiveTypeName
  private val fixedLength = if (kind == INT96) 12 else column.getPrimitiveType.getTypeLength

  private var left = pages.getTotalValueCount
  private var leftInPage = 0
  private var page: ByteBuffer = _
  private var bit = 0
  private var repetitions: Levels = _
  private var definitions: Levels = _
  private var currentRepetition = 0
  private var currentDefinition = 0
  private var isAtEnd = false
  // A file whose footer does not mention a dictionary may have one that no page uses.
  pages.readDictionaryPage()
  next()

  override def definition: Int = currentDefinition
  override def repetition: Int = currentRepetition

  override def next(): Unit =
    if (left == 0) {
      if (isAtEnd) fail("has fewer values than the rows of its row group need")
      isAtEnd = true
      currentRepetition = 0
    } else {
      while (leftInPage == 0) nextPage()
      left -= 1
      leftInPage -= 1
      currentRepetition = repetitions.next()
      currentDefinition = definitions.next()
    }

  override def passValue(): Unit = kind match {
    case INT32 => converter.addInt(page.getInt())
    case INT64 => converter.addLong(page.getLong())
    case FLOAT => converter.addFloat(page.getFloat())
    case DOUBLE => converter.addDouble(page.getDouble())
    case BOOLEAN => converter.addBoolean(nextBit())
    case BINARY => converter.addBinary(bytes(page.getInt()))
    case FIXED_LEN_BYTE_ARRAY | INT96 => converter.addBinary(bytes(fixedLength))
  }

  private def nextBit(): Boolean = {
    val value = page.get(page.position() + (bit >>> 3)) >>> (bit & 7)
    bit += 1
    (value & 1) != 0
  }

  private def bytes(length: Int): Binary = {
    if (length < 0 || length > page.remaining) fail(s"claims a value of $length bytes")
    val start = page.position()
    page.position(start + length)
    Binary.fromConstantByteArray(page.array, page.arrayOffset + start, length)
  }

  private def nextPage(): Unit = pages.readPage() match {
    case data: DataPageV1 if data.getValueEncoding == Encoding.PLAIN =>
      page = PlainColumn.heap(data.getBytes.toByteBuffer)
      bit = 0
      leftInPage = data.getValueCount
      if (leftInPage < 0) fail(s"claims $leftInPage values")
      repetitions = levels(column.getMaxRepetitionLevel, data.getRlEncoding)
      definitions = levels(column.getMaxDefinitionLevel, data.getDlEncoding)
    case null => fail("has fewer values than the footer claims")
    case _ => fail("has a page with another encoding than the footer claims")
  }

  private def levels(max: Int, encoding: Encoding): Levels =
    if (max == 0) Levels.Zero
    else {
      if (encoding != Encoding.RLE) fail(s"has levels with the encoding $encoding")
      val length = page.getInt()
      if (length < 0 || length > page.remaining) fail(s"claims levels of $length bytes")
      val encoded = page.duplicate()
      encoded.limit(page.position() + length)
      page.position(page.position() + length)
      new RunLengthLevels(encoded, max)
    }

  private def fail(reason: String): Nothing =
    throw new ParquetDecodingException(s"The column ${column.getPath.mkString(".")} $reason")
}

/** Reads the values of a column one after the other. */
private[parquet] trait ColumnCursor {

  /** The definition level of the current value. */
  def definition: Int

  /** The repetition level of the current value; 0 after the last value. */
  def repetition: Int

  /** Passes the current value to the converter of the column. Must not be called if the value is null. */
  def passValue(): Unit

  /** Moves to the next value. */
  def next(): Unit
}

private object PlainColumn {

  /** Returns the bytes as little-endian bytes in an array. */
  private def heap(bytes: ByteBuffer): ByteBuffer =
    (if (bytes.hasArray) bytes.slice()
     else {
       val copy = ByteBuffer.allocate(bytes.remaining)
       copy.put(bytes.duplicate()).flip()
       copy
     }).order(ByteOrder.LITTLE_ENDIAN)
}

/** The repetition or definition levels of a page. */
sealed abstract private class Levels {
  def next(): Int
}

private object Levels {

  /** The levels of a column whose maximum level is 0. */
  object Zero extends Levels {
    override def next(): Int = 0
  }
}

/**
 * Levels in the encoding RLE of Parquet: runs of equal levels, and runs of packed levels.
 *
 * @param in the encoded levels
 * @param max the maximum level
 */
final private class RunLengthLevels(in: ByteBuffer, max: Int) extends Levels {

  /** The number of bits of a packed level. */
  private val width = Integer.SIZE - Integer.numberOfLeadingZeros(max)
  private val mask = (1 << width) - 1
  private var left = 0L
  private var isPacked = false
  private var level = 0

  /** The bits that have been read from the current packed run, and their number. */
  private var buffer = 0L
  private var buffered = 0

  override def next(): Int = {
    while (left == 0) nextRun()
    left -= 1
    val next = if (isPacked) unpack() else level
    if (next > max) throw new ParquetDecodingException(s"A column has the level $next, but its maximum level is $max")
    next
  }

  private def unpack(): Int = {
    while (buffered < width) {
      buffer |= (in.get() & 0xffL) << buffered
      buffered += java.lang.Byte.SIZE
    }
    val value = (buffer & mask).toInt
    buffer >>>= width
    buffered -= width
    value
  }

  private def nextRun(): Unit = {
    val header = varint()
    isPacked = (header & 1) != 0
    buffer = 0
    buffered = 0
    if (isPacked) left = (header >>> 1) * RunLengthLevels.GroupSize
    else {
      left = header >>> 1
      level = in.get() & 0xff
      if (width > java.lang.Byte.SIZE) level |= (in.get() & 0xff) << java.lang.Byte.SIZE
    }
  }

  private def varint(): Long = {
    var result = 0L
    var shift = 0
    var byte = in.get()
    while (byte < 0 && shift < Integer.SIZE) {
      result |= (byte & 0x7fL) << shift
      shift += 7
      byte = in.get()
    }
    result | (byte & 0x7fL) << shift
  }
}

private object RunLengthLevels {

  /** The number of levels in a group of a packed run. */
  private val GroupSize = 8L
}
