package iceberglite.storage

import java.io.{EOFException, InputStream}

import org.apache.parquet.io.{DelegatingSeekableInputStream, InputFile, SeekableInputStream}

import iceberglite.encryption.{FileKey, GcmBlocks}
import iceberglite.storage.StorageErrors.wrapReadErrors

/**
 * The content of an encrypted file in the AES GCM stream format. Only authentic content is returned. Positions and the
 * length are those of the content.
 *
 * @param stored the encrypted file
 * @param path the path of the file, for messages
 */
final class GcmInput(stored: InputFile, path: String, key: FileKey) extends InputFile {
  @volatile private var header = Option.empty[Array[Byte]]

  /**
   * Returns the decryption of the file. The first call reads the header from `in`, so that no other stream is opened.
   *
   * @param in a stream that was just opened
   */
  private def decryption(in: SeekableInputStream): GcmDecryption = {
    val first = header.getOrElse(in.readNBytes(GcmBlocks.HeaderLength))
    header = Some(first)
    new GcmDecryption(path, key, first, stored.getLength)
  }

  override def getLength: Long = wrapReadErrors(path) {
    val in = stored.newStream()
    try decryption(in).contentLength
    finally in.close()
  }

  override def newStream(): SeekableInputStream = wrapReadErrors(path) {
    val in = stored.newStream()
    try {
      val content = new Content(decryption(in), in)
      new DelegatingSeekableInputStream(content) {
        override def getPos: Long = content.position
        override def seek(position: Long): Unit = content.seek(position)
      }
    } catch {
      case e: Throwable =>
        in.close()
        throw e
    }
  }

  final private class Content(file: GcmDecryption, in: SeekableInputStream) extends InputStream {
    var position: Long = 0
    private var current = -1
    private var plain = Array.emptyByteArray

    def seek(target: Long): Unit = {
      if (target < 0 || target > file.contentLength) throw new EOFException(
        s"$path has no byte $target: its content has ${file.contentLength} bytes"
      )
      position = target
    }

    override def read(): Int = {
      val one = new Array[Byte](1)
      if (read(one, 0, 1) < 0) -1 else one(0) & 0xff
    }

    override def read(target: Array[Byte], offset: Int, length: Int): Int =
      if (length == 0) 0
      else {
        val block = file.blocks.blockOf(position)
        // The only block of an empty file is also read, so that an empty file is authenticated.
        if (position < file.contentLength || file.contentLength == 0) load(block)
        if (position >= file.contentLength) -1
        else {
          val start = (position - file.blocks.startOf(block)).toInt
          val count = math.min(length, plain.length - start)
          System.arraycopy(plain, start, target, offset, count)
          position += count
          count
        }
      }

    private def load(block: Int): Unit = if (block != current) {
      val start = file.blocks.storedStartOf(block)
      if (in.getPos != start) in.seek(start)
      val length = file.blocks.storedLengthOf(block, file.contentLength)
      val encrypted = in.readNBytes(length)
      if (encrypted.length < length) throw GcmDecryption.damaged(path, s"The end of block $block is missing")
      current = -1
      plain = file.decrypt(block, encrypted)
      current = block
    }

    override def skip(count: Long): Long = {
      val skipped = math.max(0, math.min(count, file.contentLength - position))
      position += skipped
      skipped
    }

    override def available: Int = math.min(file.contentLength - position, Int.MaxValue.toLong).toInt

    override def close(): Unit = in.close()
  }
}
