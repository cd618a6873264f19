package iceberglite.storage

import java.io.InputStream
import java.util.Arrays

import iceberglite.spec.IcebergError.UnreadableFile

/**
 * Limits for files that are read as a whole. A file of 16 MiB or more must begin with the magic of its format, and no
 * file may be longer than `maxBytes`. Therefore a file without an end, such as a device, or a huge sparse
 * file causes an error, and does not exhaust the memory.
 *
 * @param format the name of the format, for messages
 * @param maxBytes maximum length of a file
 * @param hasMagic returns whether the first bytes of a file match the format
 */
final private[iceberglite] case class ReadBounds(format: String, maxBytes: Long, hasMagic: Array[Byte] => Boolean) {
  import ReadBounds._

  /**
   * Checks, before a file is read, the length that the storage reports.
   *
   * @throws UnreadableFile if the length exceeds the limit
   */
  def checkLength(path: String, length: Long): Unit =
    if (length > maxBytes) throw tooLong(path, s"The file has $length bytes")

  /** Checks a file that was read completely. @throws UnreadableFile as [[read]] */
  def checkContent(path: String, content: Array[Byte]): Unit = {
    checkLength(path, content.length.toLong)
    checkMagic(path, content)
  }

  private def checkMagic(path: String, content: Array[Byte]): Unit =
    if (content.length >= UncheckedBytes && !hasMagic(content)) throw UnreadableFile(
      path,
      "file",
      s"The file has at least $UncheckedBytes bytes and does not begin with the magic bytes of $format, so the " +
        s"file is damaged or is not $format"
    )

  /**
   * Reads a stream to its end.
   *
   * @throws UnreadableFile if the file is too long, or is not a file of the format
   */
  def read(path: String, in: InputStream): Array[Byte] = {
    val first = in.readNBytes(math.min(UncheckedBytes, maxBytes + 1).toInt)
    if (first.length > maxBytes) throw tooLong(path, s"The file has more than $maxBytes bytes")
    else if (first.length < UncheckedBytes) first
    else {
      checkMagic(path, first)
      val rest = in.readNBytes((maxBytes - first.length + 1).toInt)
      if (first.length + rest.length > maxBytes) throw tooLong(path, s"The file has more than $maxBytes bytes")
      val contents = Arrays.copyOf(first, first.length + rest.length)
      System.arraycopy(rest, 0, contents, first.length, rest.length)
      contents
    }
  }

  private def advice: String = ReadBounds.advice(maxBytes)

  private def tooLong(path: String, length: String): UnreadableFile = UnreadableFile(
    path,
    "file",
    s"$length, more than the limit of $maxBytes bytes for $format. $advice"
  )
}

private[iceberglite] object ReadBounds {

  /**
   * Files below this size are read without a check of the magic. If they are not valid, the parser reports the error.
   */
  private val UncheckedBytes: Long = 16L << 20
  private val UpperLimit: Long = 1L << 30

  /**
   * The maximum length of a file of any format. It is a quarter of the heap, but at least 16 MiB and at most 1 GiB. The
   * whole heap is not available, because decoding needs additional memory, and because several files are read
   * concurrently.
   */
  val MaxBytes: Long = math.max(UncheckedBytes + 1, math.min(UpperLimit, Runtime.getRuntime.maxMemory / 4))

  val Any: ReadBounds = ReadBounds("any file", MaxBytes, _ => true)

  /** Limits for a metadata file, which is either JSON text or gzip. */
  val Metadata: ReadBounds = ReadBounds(
    "table metadata (JSON or gzip)",
    MaxBytes,
    bytes => MetadataFiles.isGzip(bytes) || isJson(bytes)
  )

  /** Limits for a version hint, which is either a number or a file name. */
  val Hint: ReadBounds = ReadBounds("a version hint", 1L << 12, _ => true)

  /** Returns the advice in the error message. A larger heap is advised only if the limit depends on the heap size. */
  private def advice(limit: Long): String =
    if (limit == MaxBytes && limit < UpperLimit)
      "If the file is not damaged, give the driver more memory (spark.driver.memory)"
    else "The file is damaged or was not written by Iceberg"

  private val ByteOrderMark = Array(0xef, 0xbb, 0xbf).map(_.toByte)

  private def isJson(bytes: Array[Byte]): Boolean = {
    val text = if (bytes.startsWith(ByteOrderMark)) bytes.drop(ByteOrderMark.length) else bytes
    text.find(b => !Character.isWhitespace(b.toInt)).contains('{'.toByte)
  }

  /** Checks the length of a range before it is read. @throws UnreadableFile if the range does not fit into memory */
  def checkRange(path: String, length: Int): Unit = if (length > MaxBytes) throw UnreadableFile(
    path,
    "file",
    s"The metadata refers to a range of $length bytes, more than the limit of $MaxBytes bytes for one read. " +
      advice(MaxBytes)
  )
}
