package iceberglite.io

import java.io.InputStream
import java.lang.ref.Cleaner
import java.util.Arrays

import iceberglite.io.StorageErrors.reading

/** The bytes of an Avro file one after the other: all at hand, or as a stream brings them. */
sealed abstract private[iceberglite] class AvroSource extends AutoCloseable {

  /** What is at hand. Its array is never written to again, so that parts of it can be kept. */
  def input: AvroInput

  /** Brings so many bytes, or as many as are left. */
  def fill(bytes: Int): Unit

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
  def of(path: String, stream: InputStream): AvroSource = new Streamed(path, stream)

  /** How much is asked of a stream at least. */
  private val ChunkBytes = 1 << 18

  private lazy val cleaner = Cleaner.create()

  final private class Whole(bytes: Array[Byte]) extends AvroSource {
    override val input: AvroInput = new AvroInput(bytes, 0, bytes.length)
    override def fill(bytes: Int): Unit = ()
    override def ended: Boolean = true
    override def taken: Long = input.position.toLong
  }

  /** Closes its stream at the end, or once nobody holds it any more: who looks for one entry stops in the middle. */
  final private class Streamed(path: String, stream: InputStream) extends AvroSource {
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

    override def close(): Unit = closing.clean()
  }

  /** Holds the stream and not its reader. */
  final private class Closing(stream: InputStream) extends Runnable {
    override def run(): Unit = stream.close()
  }
}
