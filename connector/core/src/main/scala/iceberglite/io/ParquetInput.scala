package iceberglite.io

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, InputStream}
import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.US_ASCII

import scala.collection.JavaConverters._

import org.apache.parquet.format.Util
import org.apache.parquet.io.{DelegatingSeekableInputStream, InputFile, SeekableInputStream}

import iceberglite.spec.IcebergError.UnreadableFile

/**
 * Parquet files that Parquet's own library can be let loose on: their footers claim no more than they hold, and have no
 * logical types that are newer than the library (variant, geometry), which it would fail on, whichever columns are
 * read.
 */
object ParquetInput {
  private val Magic = "PAR1"
  private val MagicOfEncrypted = "PARE"
  private val TrailerSize = 8

  /** Magic, an empty footer, its length, magic. */
  private val LeastLength = 12L

  /** @throws UnreadableFile for what is no Parquet file, or a damaged one */
  def of(io: FileIO, path: String): InputFile = StorageErrors.reading(path) {
    try of(DataInput.of(io, path))
    catch { case e: DamagedFooter => throw UnreadableFile(path, "file", e.getMessage, Some(e)) }
  }

  /** @throws DamagedFooter for what is no Parquet file, or a damaged one; and whatever the storage throws */
  def of(file: InputFile): InputFile = {
    // Before it is opened: a pipe has no length, and to open it would wait for a writer.
    if (file.getLength < LeastLength) {
      throw new DamagedFooter(s"It is not a Parquet file: it has ${file.getLength} bytes")
    }
    val stream = file.newStream()
    try checked(file, stream)
    finally stream.close()
  }

  private def checked(file: InputFile, stream: SeekableInputStream): InputFile = {
    val length = file.getLength
    val trailer = bytesAt(stream, length - TrailerSize, TrailerSize)
    checkMagic(new String(trailer, 4, 4, US_ASCII))
    val size = Integer.reverseBytes(ByteBuffer.wrap(trailer).getInt)
    val start = length - TrailerSize - size
    if (size < 0 || start < Magic.length) {
      throw new DamagedFooter(s"Its last bytes say that its footer has $size bytes, and the file has $length in all")
    }
    val footer = bytesAt(stream, start, size)
    val known =
      if (new ParquetFooterCheck(ByteBuffer.wrap(footer)).hasNewerTypes()) withoutNewerTypes(footer) else footer
    new WithTail(file, start, known ++ trailerOf(known.length))
  }

  private def checkMagic(magic: String): Unit = magic match {
    case Magic => ()
    case MagicOfEncrypted =>
      throw new DamagedFooter("Its footer is encrypted. Read the table with an engine that has its keys")
    case _ => throw new DamagedFooter("It is not a Parquet file, or cut off: it does not end in PAR1")
  }

  private def bytesAt(stream: SeekableInputStream, position: Long, size: Int): Array[Byte] = {
    if (size > ReadBounds.MaxBytes) throw new DamagedFooter(s"Its footer claims $size bytes, too many for the memory")
    val bytes = new Array[Byte](size)
    stream.seek(position)
    stream.readFully(bytes)
    bytes
  }

  /** Where Parquet's library finds a type that it does not know, it leaves the union empty. */
  private def withoutNewerTypes(footer: Array[Byte]): Array[Byte] = {
    val metadata = Util.readFileMetaData(new ByteArrayInputStream(footer))
    metadata.getSchema.asScala.filter(e => e.isSetLogicalType && Option(e.getLogicalType.getSetField).isEmpty)
      .foreach(_.unsetLogicalType())
    val out = new ByteArrayOutputStream
    Util.writeFileMetaData(metadata, out)
    out.toByteArray
  }

  private def trailerOf(size: Int): Array[Byte] =
    ByteBuffer.allocate(TrailerSize).putInt(Integer.reverseBytes(size)).put(Magic.getBytes(US_ASCII)).array

  /** A file whose end is at hand, and need not be fetched again. */
  final private class WithTail(file: InputFile, start: Long, tail: Array[Byte]) extends InputFile {
    override def getLength: Long = start + tail.length

    override def newStream(): SeekableInputStream = {
      val joined = new Joined
      new DelegatingSeekableInputStream(joined) {
        override def getPos: Long = joined.position
        override def seek(position: Long): Unit = joined.position = position
      }
    }

    final private class Joined extends InputStream {
      var position = 0L

      /** Who wants the footer only has no need for it. */
      private var opened = Option.empty[SeekableInputStream]

      private def head: SeekableInputStream = opened.getOrElse {
        val stream = file.newStream()
        opened = Some(stream)
        stream
      }

      override def read(): Int = {
        val one = new Array[Byte](1)
        if (read(one, 0, 1) < 0) -1 else one(0) & 0xff
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

      override def close(): Unit = opened.foreach(_.close())
    }
  }
}
