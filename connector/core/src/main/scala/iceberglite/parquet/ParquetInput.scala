package iceberglite.parquet

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, InputStream}
import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.US_ASCII

import scala.collection.JavaConverters._

import org.apache.parquet.format.Util
import org.apache.parquet.io.{DelegatingSeekableInputStream, InputFile, SeekableInputStream}

import iceberglite.encryption.FileKey
import iceberglite.spec.IcebergError.UnreadableFile
import iceberglite.storage.{DataInput, FileIO, ReadBounds, StorageErrors}

/**
 * Opens Parquet files so that Parquet's library can read them safely. Files whose footer contains an invalid length are
 * rejected. Logical types that this version of the library does not support, such as variant and geometry, are
 * removed from the footer. Otherwise the library could not read the file, even if no column of these types is read.
 */
object ParquetInput {
  private val Magic = "PAR1"
  private val TrailerSize = 8

  /** The minimum file length in bytes: the magic, the length field of an empty footer, and the magic again. */
  private val MinLength = 12L

  /**
   * Opens a file.
   *
   * @param key the key of an encrypted file. Parquet's library also needs it to read the file
   * @throws UnreadableFile if it is not a Parquet file, is damaged, or is encrypted with another key
   */
  def of(io: FileIO, path: String, key: Option[FileKey] = None): InputFile =
    checked(path, key)(DataInput.of(if (key.isDefined) io.unguarded else io, path))

  /**
   * Opens a file whose content is read by one request and kept in memory.
   *
   * @param maxBytes the maximum length of the file
   * @throws UnreadableFile if it is not a Parquet file, is damaged, has an encrypted footer, or is too long
   */
  private[iceberglite] def whole(io: FileIO, path: String, maxBytes: Long): InputFile = checked(path, None)(
    DataInput.whole(io, path, ReadBounds("Parquet", maxBytes, _.startsWith(Magic.getBytes(US_ASCII))))
  )

  private def checked(path: String, key: Option[FileKey])(open: => InputFile): InputFile =
    StorageErrors.wrapReadErrors(path) {
      try of(open, key)
      catch { case e: DamagedFooter => throw UnreadableFile(path, "file", e.getMessage, Some(e)) }
    }

  /**
   * Opens a file. Exceptions of the storage are not converted.
   *
   * @throws DamagedFooter if it is not a Parquet file, is damaged, or is encrypted with another key
   */
  def of(file: InputFile, key: Option[FileKey]): InputFile = {
    // The length is checked before the file is opened, because a named pipe has no length, and opening it would
    // block.
    if (file.getLength < MinLength) {
      throw new DamagedFooter(s"The file has ${file.getLength} bytes, too few for a Parquet file")
    }
    val stream = file.newStream()
    try withCheckedFooter(file, stream, key)
    finally stream.close()
  }

  private def withCheckedFooter(file: InputFile, stream: SeekableInputStream, key: Option[FileKey]): InputFile = {
    val length = file.getLength
    val trailer = bytesAt(stream, length - TrailerSize, TrailerSize)
    checkMagic(new String(trailer, 4, 4, US_ASCII), key.isDefined)
    val size = Integer.reverseBytes(ByteBuffer.wrap(trailer).getInt)
    val start = length - TrailerSize - size
    if (size < 0 || start < Magic.length) {
      throw new DamagedFooter(s"The file states a footer of $size bytes, but has only $length bytes")
    }
    val stored = bytesAt(stream, start, size)
    val footer = key.fold(readable(stored))(ParquetEncryption.footer(stored, _)(readable))
    new WithTail(file, start, footer ++ trailerOf(footer.length, key.fold(Magic)(_ => ParquetEncryption.Magic)))
  }

  /** Returns a footer that the library can read: the same array, or a copy without newer types. */
  private def readable(footer: Array[Byte]): Array[Byte] =
    if (new ParquetFooterCheck(ByteBuffer.wrap(footer)).hasNewerTypes()) withoutNewerTypes(footer) else footer

  private def checkMagic(magic: String, isEncrypted: Boolean): Unit = magic match {
    case ParquetEncryption.Magic if isEncrypted => ()
    case Magic if isEncrypted =>
      throw new DamagedFooter(
        "The file is not encrypted, although the table's metadata has a key for it. It was replaced; restore the file"
      )
    case Magic => ()
    case ParquetEncryption.Magic =>
      throw new DamagedFooter("The footer is encrypted. Read the table with an engine that has the encryption keys")
    case _ =>
      throw new DamagedFooter("The file does not end with the magic PAR1, so it is truncated or is not a Parquet file")
  }

  private def bytesAt(stream: SeekableInputStream, position: Long, size: Int): Array[Byte] = {
    if (size > ReadBounds.MaxBytes) {
      throw new DamagedFooter(s"The file states a footer of $size bytes, more than the limit of ${ReadBounds.MaxBytes}")
    }
    val bytes = new Array[Byte](size)
    stream.seek(position)
    stream.readFully(bytes)
    bytes
  }

  /**
   * Removes the logical types that the library does not support. The library has parsed such a type as an empty union.
   */
  private def withoutNewerTypes(footer: Array[Byte]): Array[Byte] = {
    val metadata = Util.readFileMetaData(new ByteArrayInputStream(footer))
    metadata.getSchema.asScala.filter(e => e.isSetLogicalType && Option(e.getLogicalType.getSetField).isEmpty)
      .foreach(_.unsetLogicalType())
    val out = new ByteArrayOutputStream
    Util.writeFileMetaData(metadata, out)
    out.toByteArray
  }

  private def trailerOf(size: Int, magic: String): Array[Byte] =
    ByteBuffer.allocate(TrailerSize).putInt(Integer.reverseBytes(size)).put(magic.getBytes(US_ASCII)).array

  /** A file whose end, from position `start` on, is in memory and is not read again. */
  final private class WithTail(file: InputFile, start: Long, tail: Array[Byte]) extends InputFile {
    override def getLength: Long = start + tail.length

    override def newStream(): SeekableInputStream = {
      val contents = new HeadAndTail
      new DelegatingSeekableInputStream(contents) {
        override def getPos: Long = contents.position
        override def seek(position: Long): Unit = contents.position = position
      }
    }

    /** A stream of the file's bytes before position `start`, followed by the bytes in memory. */
    final private class HeadAndTail extends InputStream {
      var position = 0L

      /**
       * The stream of the file's bytes in the storage. It is opened only when needed, because a caller that reads only
       * the footer does not need it.
       */
      private var openedHead = Option.empty[SeekableInputStream]

      private def head: SeekableInputStream = openedHead.getOrElse {
        val stream = file.newStream()
        openedHead = Some(stream)
        stream
      }

      override def read(): Int = {
        val bytes = new Array[Byte](1)
        if (read(bytes, 0, 1) < 0) -1 else bytes(0) & 0xff
      }

      override def read(bytes: Array[Byte], offset: Int, length: Int): Int = {
        val count =
          if (length == 0) 0
          else if (position < start) readHead(bytes, offset, math.min(length.toLong, start - position).toInt)
          else readTail(bytes, offset, length)
        if (count > 0) position += count
        count
      }

      private def readHead(bytes: Array[Byte], offset: Int, length: Int): Int = {
        val stream = head
        if (stream.getPos != position) stream.seek(position)
        stream.read(bytes, offset, length)
      }

      private def readTail(bytes: Array[Byte], offset: Int, length: Int): Int = {
        val count = math.min(length.toLong, getLength - position).toInt
        if (count <= 0) -1
        else {
          System.arraycopy(tail, (position - start).toInt, bytes, offset, count)
          count
        }
      }

      override def close(): Unit = openedHead.foreach(_.close())
    }
  }
}
