package iceberglite.tree

import scala.collection.mutable
import scala.util.hashing.byteswap32

/**
 * A part of all hash values: those with the given lowest bits.
 *
 * @param bits the number of bits, from 0 (all hash values) to [[HashRange.MaxBits]]
 * @param value the value of these bits
 */
final private[iceberglite] case class HashRange(bits: Int, value: Int) {
  def contains(hash: Int): Boolean = (hash & ((1 << bits) - 1)) == value

  /** Returns two ranges that together contain the same hash values as this range. */
  def halves: (HashRange, HashRange) = (HashRange(bits + 1, value), HashRange(bits + 1, value | (1 << bits)))
}

private[iceberglite] object HashRange {
  val MaxBits = 24
  val All: HashRange = HashRange(0, 0)

  /** The maximum of [[divide]], so that a false count in metadata cannot cause any number of passes. */
  private val MaxDividedBits = 8

  /** Divides all hash values into at most 256 ranges, so that each of them has about `max` of `count` keys or fewer. */
  def divide(count: Long, max: Long): Vector[HashRange] = {
    val bits = (0 until MaxDividedBits).find(b => count >> b <= max).getOrElse(MaxDividedBits)
    (0 until 1 << bits).iterator.map(HashRange(bits, _)).toVector
  }
}

/**
 * The sums of one pass over values with keys. If there are too many keys, the pass drops the sums of a half of its
 * keys, which a later pass over the same values adds up; see [[BoundedSums.passes]]. The class is not thread-safe,
 * except that other threads may call [[keeps]] while one thread adds sums.
 *
 * @param start the hash values of the keys that the pass begins with
 * @param maxKeys the maximum number of keys whose sums are kept
 */
final private[iceberglite] class BoundedSums[K, V](start: HashRange, maxKeys: Int) {
  private var range = start
  private val sums = mutable.LinkedHashMap.empty[K, V]
  private var leftForLater = List.empty[HashRange]

  /** Whether this is the first pass over the values. */
  def isFirstPass: Boolean = start == HashRange.All

  /**
   * Whether this pass sums the values of a key. The result may change from true to false when a value is added. Another
   * thread may notice this late, and compute a sum that [[at]] does not accept.
   */
  def keeps(key: K): Boolean = range.contains(BoundedSums.hash(key))

  /**
   * Returns the sum of a key, which the caller changes; absent if this pass does not sum the values of the key.
   *
   * @param empty a new sum, for a key that has none
   */
  def at(key: K)(empty: => V): Option[V] =
    if (!keeps(key)) None
    else sums.get(key).orElse {
      sums(key) = empty
      while (sums.size > maxKeys && range.bits < HashRange.MaxBits) narrow()
      sums.get(key)
    }

  def get(key: K): Option[V] = sums.get(key)

  /** The sums in the order in which their keys were added first. */
  def iterator: Iterator[(K, V)] = sums.iterator

  private[tree] def rest: List[HashRange] = leftForLater

  private def narrow(): Unit = {
    val (kept, later) = range.halves
    range = kept
    leftForLater ::= later
    sums.keysIterator.filterNot(keeps).toVector.foreach(sums.remove)
  }
}

private[iceberglite] object BoundedSums {

  /** The minimum of [[maxKeys]], for very small heaps. */
  private val MinKeys = 10000

  /**
   * Sums values by key in bounded memory. The values are read once if they have at most `maxKeys` keys, and otherwise
   * several times. Each pass sums the values of a part of the keys.
   *
   * @param read reads all values, and adds them to the sums of a pass
   * @return the sums of each pass, which is run when they are requested. Only the sums of the last pass are in memory
   */
  def passes[K, V](maxKeys: Int)(read: BoundedSums[K, V] => Unit): Iterator[BoundedSums[K, V]] =
    new Iterator[BoundedSums[K, V]] {
      private var left = List(HashRange.All)

      override def hasNext: Boolean = left.nonEmpty

      override def next(): BoundedSums[K, V] = {
        val sums = new BoundedSums[K, V](left.head, maxKeys)
        read(sums)
        left = sums.rest ++ left.tail
        sums
      }
    }

  /**
   * Returns how many keys may be in memory.
   *
   * @param bytesPerKey the estimated heap size of a key and its sums in bytes
   * @param heapShare the share of the heap that all sums may use
   */
  def maxKeys(bytesPerKey: Int, heapShare: Double): Int = {
    val bytes = Runtime.getRuntime.maxMemory * heapShare
    math.max(MinKeys.toDouble, math.min(bytes / bytesPerKey, Int.MaxValue.toDouble)).toInt
  }

  /** Mixes the bits of the hash code, because the hash codes of similar keys often have the same lowest bits. */
  private def hash(key: Any): Int = byteswap32(key.hashCode)
}
