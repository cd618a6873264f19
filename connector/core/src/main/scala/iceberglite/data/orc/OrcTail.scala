package iceberglite.data.orc

import scala.collection.JavaConverters._

import org.apache.orc.{OrcFile, OrcProto, Reader}
import org.apache.orc.impl.ReaderImpl

import iceberglite.data.FileFaults
import iceberglite.spec.IcebergError.UnreadableFile
import iceberglite.storage.ReadBounds

/** Validates the lengths and counts in the tail of an ORC file before the library uses them. */
private[orc] object OrcTail {
  private val MaxPostScriptBytes = 256

  /** Maximum length of a compressed chunk. The length has 23 bits (ORC specification, "Compression"). */
  private val MaxChunkBytes = 1L << 23

  /**
   * Checks the postscript.
   *
   * @throws UnreadableFile if the file is not an ORC file, or if the postscript states lengths that are greater than
   *   the file or than a limit
   */
  private def check(path: String, storage: OrcStorage): Unit = {
    val size = storage.size
    if (size <= OrcFile.MAGIC.length) fail(path, s"The file has $size bytes, too few for an ORC file")
    val end = readEnd(storage, math.min(size, MaxPostScriptBytes.toLong).toInt)
    val length = end.last & 0xff
    if (length >= end.length) fail(path, "The file does not end with an ORC postscript")
    val postScript = OrcProto.PostScript.parseFrom(end.slice(end.length - 1 - length, end.length - 1))
    if (postScript.getMagic != OrcFile.MAGIC) fail(path, "The postscript of the file does not contain the magic ORC")
    checkLengths(path, postScript, size, length + 1)
  }

  /**
   * Checks the lengths that the postscript states.
   *
   * @param size the length of the file in bytes
   * @param endLength the length of the postscript and of its own length field, in bytes
   */
  private def checkLengths(path: String, postScript: OrcProto.PostScript, size: Long, endLength: Int): Unit = {
    val parts =
      Seq(postScript.getFooterLength, postScript.getMetadataLength, postScript.getStripeStatisticsLength)
    if (parts.exists(part => part < 0 || part > size) || parts.sum + endLength > size) {
      fail(
        path,
        s"The ORC postscript states a footer of ${postScript.getFooterLength} bytes, metadata of " +
          s"${postScript.getMetadataLength} bytes and stripe statistics of ${postScript.getStripeStatisticsLength} " +
          s"bytes, but the file has only $size bytes"
      )
    }
    if (parts.sum > ReadBounds.MaxBytes) {
      val reason =
        s"The ORC postscript states a footer and metadata of ${parts.sum} bytes in total, more than the limit of " +
          s"${ReadBounds.MaxBytes} bytes"
      fail(path, reason)
    }
    if (postScript.getCompressionBlockSize > MaxChunkBytes) {
      fail(
        path,
        s"The compression block size is ${postScript.getCompressionBlockSize} bytes, more than the maximum of " +
          s"$MaxChunkBytes bytes"
      )
    }
  }

  private def readEnd(storage: OrcStorage, length: Int): Array[Byte] = {
    val in = storage.openRaw()
    try {
      val bytes = new Array[Byte](length)
      in.seek(storage.size - length)
      in.readFully(bytes)
      bytes
    } finally in.close()
  }

  /**
   * Checks the stripes, and that the columns are not encrypted.
   *
   * @throws UnreadableFile if a column is encrypted, if a stripe does not fit into the file, or if the total number of
   *   rows in the stripes differs from the number in the footer
   */
  private def checkStripes(path: String, storage: OrcStorage, reader: Reader): Unit = {
    // Without the encryption key, the library would return masked values instead of the actual values.
    if (reader.getColumnEncryptionKeys.nonEmpty) {
      fail(path, "The file uses ORC column encryption, which is not supported")
    }
    val stripes = reader.getStripes.asScala
    stripes.foreach { s =>
      val parts = Seq(s.getOffset, s.getIndexLength, s.getDataLength, s.getFooterLength)
      if (parts.exists(part => part < 0 || part > storage.size) || parts.sum > storage.size || s.getNumberOfRows < 0) {
        fail(path, s"The stripe at byte ${s.getOffset} does not fit into the file")
      }
    }
    val rows = stripes.map(s => BigInt(s.getNumberOfRows)).sum
    if (rows != BigInt(reader.getNumberOfRows)) {
      fail(path, s"The ORC footer states ${reader.getNumberOfRows} rows, but the stripes have $rows rows")
    }
  }

  /**
   * Opens a file. Dates and timestamps are read without conversion between calendars, because the library is configured
   * with the calendar in the file footer. The footers of Iceberg's writers name the hybrid calendar, although the
   * values are in the proleptic Gregorian calendar. The footers of other writers name the calendar that the values use.
   */
  def open(path: String, storage: OrcStorage): ReaderImpl = {
    check(path, storage)
    val reader = openAs(path, storage, proleptic = false)
    if (!reader.writerUsedProlepticGregorian) reader
    else {
      reader.close()
      openAs(path, storage, proleptic = true)
    }
  }

  private def openAs(path: String, storage: OrcStorage, proleptic: Boolean): ReaderImpl = {
    val options = OrcFile.readerOptions(storage.getConf).filesystem(storage).useUTCTimestamp(true)
      .convertToProlepticGregorian(proleptic)
    val reader = new ReaderImpl(new org.apache.hadoop.fs.Path(path), options)
    try checkStripes(path, storage, reader)
    catch {
      case e: Throwable =>
        reader.close()
        throw e
    }
    reader
  }

  private def fail(path: String, reason: String): Nothing = throw UnreadableFile(path, FileFaults.Role, reason)
}
