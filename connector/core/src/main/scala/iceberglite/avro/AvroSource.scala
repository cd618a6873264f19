package iceberglite.avro

import java.io.InputStream
import java.lang.ref.Cleaner
import java.util.Arrays

import org.apache.parquet.io.SeekableInputStream

import iceberglite.storage.StorageErrors.wrapReadErrors

/** Provides the bytes of an Avro file sequentially, from memory or from a stream. */
sealed abstract private[iceberglite] class AvroSource extends AutoCloseable {

  /**
   * The buffered bytes. The array that contains them is never overwritten, so callers can retain ranges of the array.
   */
  def input: AvroInput

  /** Reads until the given number of bytes is buffered, or until the end of the file. */
  def fill(bytes: Int): Unit

  /**
   * Moves to a position in the file. The position must not be less than the number of bytes consumed so far. If the
   * file is shorter than the position, either no bytes remain, or the storage reports an error. In the first case, the
   * position of a stream that cannot seek is the length of the file.
   */
  def seek(target: Long): Unit

  /** Returns whether the end of the file has been reached, so that no bytes follow the buffered bytes. */
  def isAtEnd: Boolean

  /** The number of bytes consumed so far. */
  def position: Long

  final def isEmpty: Boolean = {
    fill(1)
    input.remaining == 0
  }

  override def close(): Unit = ()
}

private[iceberglite] object AvroSource {
  def of(bytes: Array[Byte]): AvroSource = new Whole(bytes)

  /**
   * Returns a source that reads a stream.
   *
   * @param path the path of the file, for the messages of storage errors
   */
  def of(path: String, stream: InputStream): AvroSource = new Streamed(path, stream, skipIn(stream))

  /**
   * Returns a source that skips bytes by seeking instead of reading.
   *
   * @param path the path of the file, for the messages of storage errors
   */
  def seekable(path: String, stream: SeekableInputStream): AvroSource =
    new Streamed(
      path,
      stream,
      count => {
        stream.seek(stream.getPos + count)
        count
      }
    )

  /** Skips bytes of a stream; stops at its end. Returns the number of skipped bytes. */
  private def skipIn(stream: InputStream)(count: Long): Long = {
    var bytesLeft = count
    var isAtEnd = false
    while (bytesLeft > 0 && !isAtEnd) {
      val skipped = stream.skip(bytesLeft)
      if (skipped > 0) bytesLeft -= skipped else if (stream.read() >= 0) bytesLeft -= 1 else isAtEnd = true
    }
    count - bytesLeft
  }

  /** Minimum number of bytes to read from a stream at once. */
  private val ChunkBytes = 1 << 18

  private lazy val cleaner = Cleaner.create()

  final private class Whole(bytes: Array[Byte]) extends AvroSource {
    override val input: AvroInput = new AvroInput(bytes, 0, bytes.length)
    override def fill(bytes: Int): Unit = ()
    override def seek(target: Long): Unit = input.skip(math.min(target - position, input.remaining.toLong).toInt)
    override def isAtEnd: Boolean = true
    override def position: Long = input.position.toLong
  }

  /**
   * Reads a stream. The stream is closed when its end is reached. Some callers stop before the end, so the stream is
   * also closed when this object becomes unreachable.
   *
   * @param skip skips the given number of bytes, and returns the number of bytes by which the stream moved
   */
  final private class Streamed(path: String, stream: InputStream, skip: Long => Long) extends AvroSource {
    private val closing = cleaner.register(this, new Closing(stream))
    private var current = new AvroInput(Array.emptyByteArray, 0, 0)
    private var bytesBefore = 0L
    private var atEnd = false

    override def input: AvroInput = current
    override def isAtEnd: Boolean = atEnd
    override def position: Long = bytesBefore + current.position

    override def fill(bytes: Int): Unit = if (current.remaining < bytes && !atEnd) {
      val chunkSize = math.max(bytes - current.remaining, ChunkBytes)
      // `readNBytes` allocates memory as bytes arrive, so a wrong length in the file does not cause a large allocation.
      val chunk = wrapReadErrors(path)(stream.readNBytes(chunkSize))
      val unread = Arrays.copyOfRange(current.bytes, current.position, current.end)
      val buffer = Arrays.copyOf(unread, unread.length + chunk.length)
      System.arraycopy(chunk, 0, buffer, unread.length, chunk.length)
      bytesBefore += current.position
      current = new AvroInput(buffer, 0, buffer.length)
      if (chunk.length < chunkSize) {
        atEnd = true
        close()
      }
    }

    override def seek(target: Long): Unit = {
      val count = target - position
      val buffered = math.min(count, current.remaining.toLong).toInt
      current.skip(buffered)
      if (count > buffered && !atEnd) bytesBefore += wrapReadErrors(path)(skip(count - buffered))
    }

    override def close(): Unit = closing.clean()
  }

  /**
   * Closes the stream of a source that has become unreachable. This object must not reference the source, because the
   * source could then never become unreachable.
   */
  final private class Closing(stream: InputStream) extends Runnable {
    override def run(): Unit = stream.close()
  }
}
