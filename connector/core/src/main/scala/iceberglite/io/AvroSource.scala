package iceberglite.io

import java.io.InputStream
import java.lang.ref.Cleaner
import java.util.Arrays

import org.apache.parquet.io.SeekableInputStream

import iceberglite.io.StorageErrors.reading

/** The bytes of an Avro file one after the other: all at hand, or as a stream brings them. */
sealed abstract private[iceberglite] class AvroSource extends AutoCloseable {

  /** What is at hand. Its array is never written to again, so that parts of it can be kept. */
  def input: AvroInput

  /** Brings so many bytes, or as many as are left. */
  def fill(bytes: Int): Unit

  /** Goes on at a place of the file that is not before what was taken; at its end where it has no such place. */
  def jumpTo(place: Long): Unit

  /** Whether nothing comes after what is at hand. */
  def ended: Boolean

  /** How many bytes were taken so far. */
  def taken: Long

  final def isEmpty: Boolean = {
    fill(1)
    input.remaining == 0
  }

  override def close(): Unit = ()
}

private[iceberglite] object AvroSource {
  def of(bytes: Array[Byte]): AvroSource = new Whole(bytes)

  /** @param path for errors of the storage */
  def of(path: String, stream: InputStream): AvroSource = new Streamed(path, stream, skipIn(stream))

  /** One that passes over bytes without reading them. @param path for errors of the storage */
  def seekable(path: String, stream: SeekableInputStream): AvroSource =
    new Streamed(path, stream, count => stream.seek(stream.getPos + count))

  /** At the end of a stream there is nothing to pass over. */
  private def skipIn(stream: InputStream)(count: Long): Unit = {
    var left = count
    while (left > 0) {
      val skipped = stream.skip(left)
      if (skipped > 0) left -= skipped else if (stream.read() >= 0) left -= 1 else left = 0
    }
  }

  /** How much is asked of a stream at least. */
  private val ChunkBytes = 1 << 18

  private lazy val cleaner = Cleaner.create()

  final private class Whole(bytes: Array[Byte]) extends AvroSource {
    override val input: AvroInput = new AvroInput(bytes, 0, bytes.length)
    override def fill(bytes: Int): Unit = ()
    override def jumpTo(place: Long): Unit = input.skip(math.min(place - taken, input.remaining.toLong).toInt)
    override def ended: Boolean = true
    override def taken: Long = input.position.toLong
  }

  /** Closes its stream at the end, or once nobody holds it any more: who looks for one entry stops in the middle. */
  final private class Streamed(path: String, stream: InputStream, skip: Long => Unit) extends AvroSource {
    private val closing = cleaner.register(this, new Closing(stream))
    private var current = new AvroInput(Array.emptyByteArray, 0, 0)
    private var before = 0L
    private var atEnd = false

    override def input: AvroInput = current
    override def ended: Boolean = atEnd
    override def taken: Long = before + current.position

    override def fill(bytes: Int): Unit = if (current.remaining < bytes && !atEnd) {
      val wanted = math.max(bytes - current.remaining, ChunkBytes)
      // The stream makes room as bytes come, so that a length that is a lie costs no memory.
      val more = reading(path)(stream.readNBytes(wanted))
      val left = current.remaining
      val joined = Arrays.copyOf(Arrays.copyOfRange(current.bytes, current.position, current.end), left + more.length)
      System.arraycopy(more, 0, joined, left, more.length)
      before += current.position
      current = new AvroInput(joined, 0, joined.length)
      if (more.length < wanted) {
        atEnd = true
        close()
      }
    }

    override def jumpTo(place: Long): Unit = {
      val count = place - taken
      val inHand = math.min(count, current.remaining.toLong).toInt
      current.skip(inHand)
      if (count > inHand && !atEnd) {
        reading(path)(skip(count - inHand))
        before += count - inHand
      }
    }

    override def close(): Unit = closing.clean()
  }

  /** Holds the stream and not its reader. */
  final private class Closing(stream: InputStream) extends Runnable {
    override def run(): Unit = stream.close()
  }
}
