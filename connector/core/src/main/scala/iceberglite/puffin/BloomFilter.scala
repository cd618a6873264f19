package iceberglite.puffin

import java.nio.{ByteBuffer, ByteOrder}
import java.util.Arrays

/**
 * A split-block Bloom filter of 64-bit hashes, with the layout of the Bloom filters in Parquet files.
 *
 * @param bytes the blocks of 32 bytes
 */
final class BloomFilter private (bytes: Array[Byte]) extends Serializable {
  import BloomFilter._

  @transient private lazy val words = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN)

  def mayContain(hash: Long): Boolean = {
    val start = blockOf(hash)
    var i = 0
    while (i < Words && (words.getInt(start + i * Integer.BYTES) & bitOf(hash, i)) != 0) i += 1
    i == Words
  }

  private def add(hash: Long): Unit = {
    val start = blockOf(hash)
    var i = 0
    while (i < Words) {
      val position = start + i * Integer.BYTES
      words.putInt(position, words.getInt(position) | bitOf(hash, i))
      i += 1
    }
  }

  /** Returns the position of the block that the upper half of the hash selects. */
  private def blockOf(hash: Long): Int = (((hash >>> 32) * (bytes.length / BlockBytes)) >>> 32).toInt * BlockBytes

  /** The size in bytes. */
  def size: Int = bytes.length

  /** Whether the filter may contain every value. */
  private[iceberglite] def excludesNothing: Boolean = bytes.forall(_ == -1)

  /** Returns the filter's own array of bits. The caller must not change the array. */
  private[puffin] def bits: Array[Byte] = bytes

  /** Returns the bits of the filter. */
  def toBytes: Array[Byte] = bytes.clone()
}

object BloomFilter {

  /** The size of a block in bytes, which is the minimum size of a filter. */
  private[iceberglite] val BlockBytes = 32

  /** The maximum size of a filter in bytes. */
  private[iceberglite] val MaxBytes: Int = 1 << 27

  /** The number of 32-bit words in a block. A hash sets one bit in each of them. */
  private val Words = BlockBytes / Integer.BYTES

  /** The number of bits for each distinct value, with which about 1% of absent values are not excluded. */
  private val BitsPerValue = 10L

  private val Salts = Array(0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947,
    0x5c6bfb31)

  /** Returns a filter that excludes nothing. */
  private[iceberglite] def ofEverything: BloomFilter = new BloomFilter(Array.fill(BlockBytes)(-1: Byte))

  /** Returns the bit that a hash sets in a word of its block. */
  private def bitOf(hash: Long, word: Int): Int = 1 << (hash.toInt * Salts(word) >>> 27)

  /**
   * Returns an upper bound of the size of a filter in bytes.
   *
   * @param values the number of values
   * @param maxBytes the maximum size of a filter
   */
  private[iceberglite] def maxSize(values: Long, maxBytes: Long): Long = math.min(limitOf(maxBytes), sizeOf(values))

  private def limitOf(maxBytes: Long): Long =
    math.max(BlockBytes.toLong, math.min(maxBytes, MaxBytes.toLong) / BlockBytes * BlockBytes)

  /** Returns the size for a number of distinct values, with the usual ratio of false positives. */
  private def sizeOf(distinct: Long): Long = {
    val bits = math.max(1L, math.min(distinct, MaxBytes.toLong)) * BitsPerValue
    val blockBits = BlockBytes * java.lang.Byte.SIZE
    (bits + blockBits - 1) / blockBits * BlockBytes
  }

  /**
   * Collects the hashes of the values of one data file. Needs at most 24 times as much memory as the largest filter.
   * Not thread-safe.
   *
   * @param maxBytes the maximum size of the filter. If the values need a larger filter, more absent values are not
   *   excluded; if there are more distinct values than 1.5 times this size, the filter excludes nothing
   */
  final class Builder(maxBytes: Long) {
    private val maxDistinct = limitOf(maxBytes) * 3 / 2
    private val maxHashes = math.max(FirstHashes.toLong, 2 * limitOf(maxBytes))
    private var hashes = new Array[Long](FirstHashes)
    private var count = 0
    private var isTooLarge = false

    def +=(hash: Long): Unit = if (!isTooLarge) {
      if (count == hashes.length) grow()
      if (!isTooLarge) {
        hashes(count) = hash
        count += 1
      }
    }

    def result(): BloomFilter = {
      removeDuplicates()
      if (isTooLarge || count > maxDistinct) ofEverything
      else {
        val filter = new BloomFilter(new Array[Byte](maxSize(count.toLong, maxBytes).toInt))
        hashes.iterator.take(count).foreach(filter.add)
        filter
      }
    }

    /** Makes room for another hash, or gives up if there are too many distinct hashes. */
    private def grow(): Unit = {
      removeDuplicates()
      if (count > maxDistinct) {
        isTooLarge = true
        hashes = Array.emptyLongArray
        count = 0
      } else if (count > hashes.length / 2) {
        hashes = Arrays.copyOf(hashes, math.min(maxHashes, 2L * hashes.length).toInt)
      }
    }

    private def removeDuplicates(): Unit = {
      Arrays.sort(hashes, 0, count)
      var distinct = 0
      var i = 0
      while (i < count) {
        if (distinct == 0 || hashes(i) != hashes(distinct - 1)) {
          hashes(distinct) = hashes(i)
          distinct += 1
        }
        i += 1
      }
      count = distinct
    }
  }

  private val FirstHashes = 1024

  /** Parses the bits of a filter; absent if no filter has this number of bits. */
  def parse(bytes: Array[Byte]): Option[BloomFilter] =
    if (isValidSize(bytes.length)) Some(new BloomFilter(bytes)) else None

  /** Whether a filter can have the given size in bytes: a multiple of the size of a block. */
  private[iceberglite] def isValidSize(bytes: Int): Boolean =
    bytes >= BlockBytes && bytes <= MaxBytes && bytes % BlockBytes == 0
}
