package iceberglite.puffin

import java.util.Arrays

import org.roaringbitmap.{IntConsumer, RoaringBitmap}

import iceberglite.spec.IcebergError.InvalidArgument

/**
 * The deleted rows of one data file, as row positions that start at 0 (spec version 3: "Deletion vectors"). The object
 * is immutable and thread-safe.
 *
 * The upper 32 bits of a position are its key. The lower 32 bits are stored in the bitmap of this key.
 *
 * @param keys the keys in ascending order; not negative, because the top bit of a position is 0
 * @param bitmaps one bitmap for each key; the bitmaps are not empty, and must not be modified
 */
final class DeletionVector private (keys: Array[Int], bitmaps: Array[RoaringBitmap]) {

  /** The bitmap of key 0. Nearly all vectors have only this bitmap. */
  private val firstBitmap: RoaringBitmap = if (keys.nonEmpty && keys(0) == 0) bitmaps(0) else DeletionVector.NoPositions

  /** Returns whether the row at a position is deleted. */
  def isDeleted(position: Long): Boolean = {
    val key = (position >>> Integer.SIZE).toInt
    if (key == 0) firstBitmap.contains(position.toInt)
    else {
      val index = Arrays.binarySearch(keys, key)
      index >= 0 && bitmaps(index).contains(position.toInt)
    }
  }

  /** The number of deleted rows. */
  lazy val cardinality: Long = bitmaps.iterator.map(_.getLongCardinality).sum

  def isEmpty: Boolean = keys.isEmpty

  /** The approximate heap usage of the vector, in bytes. */
  lazy val heapBytes: Long = bitmaps.iterator.map(64L + _.getLongSizeInBytes).sum

  /** Calls `f` for each position, in ascending order. */
  def foreach(f: Long => Unit): Unit = {
    var i = 0
    while (i < keys.length) {
      val high = DeletionVector.high(keys(i))
      bitmaps(i).forEach(new IntConsumer {
        override def accept(low: Int): Unit = f(high | Integer.toUnsignedLong(low))
      })
      i += 1
    }
  }

  /** Calls `f` for each position between `from` (inclusive) and `until` (exclusive), in ascending order. */
  def foreachIn(from: Long, until: Long)(f: Long => Unit): Unit = {
    var i = 0
    while (i < keys.length && DeletionVector.high(keys(i)) < until) {
      val high = DeletionVector.high(keys(i))
      if ((high | DeletionVector.LowBits) >= from) {
        val positions = bitmaps(i).getIntIterator
        if (high < from) positions.advanceIfNeeded(from.toInt)
        var isInRange = true
        while (isInRange && positions.hasNext) {
          val position = high | Integer.toUnsignedLong(positions.next())
          isInRange = position < until
          if (isInRange) f(position)
        }
      }
      i += 1
    }
  }

  /** Returns the first position that is at least `from`; absent if there is none. */
  def firstFrom(from: Long): Option[Long] = {
    val key = (from >>> Integer.SIZE).toInt
    val found = Arrays.binarySearch(keys, key)
    val inKey = if (found < 0) -1L else bitmaps(found).nextValue(from.toInt)
    val next = if (found < 0) -found - 1 else found + 1
    if (inKey >= 0) Some(DeletionVector.high(key) | inKey)
    else if (next == keys.length) None
    else Some(DeletionVector.high(keys(next)) | Integer.toUnsignedLong(bitmaps(next).first))
  }

  /** Returns the vector of the rows that are deleted by either vector. */
  def union(that: DeletionVector): DeletionVector =
    if (that.isEmpty) this
    else if (isEmpty) that
    else (DeletionVector.newBuilder ++= this ++= that).result()

  /** Returns the vector of the rows that this vector deletes and the other vector does not delete. */
  def without(that: DeletionVector): DeletionVector =
    if (isEmpty || that.isEmpty) this
    else DeletionVector.ofBitmaps(keys.indices.map { i =>
      keys(i) -> that.bitmapOf(keys(i)).fold(bitmaps(i))(RoaringBitmap.andNot(bitmaps(i), _))
    })

  /** Returns whether the other vector deletes all rows that this vector deletes. */
  def isSubsetOf(that: DeletionVector): Boolean = keys.indices.forall(i => that.containsAll(keys(i), bitmaps(i)))

  private def containsAll(key: Int, bitmap: RoaringBitmap): Boolean = bitmapOf(key).exists(_.contains(bitmap))

  /** Returns the bitmap of a key. The bitmap must not be modified. */
  private def bitmapOf(key: Int): Option[RoaringBitmap] = {
    val index = Arrays.binarySearch(keys, key)
    if (index < 0) None else Some(bitmaps(index))
  }

  /**
   * Returns the bytes of the vector's blob.
   *
   * @throws InvalidArgument if the blob exceeds the maximum size of an array
   */
  def toBytes: Array[Byte] = DeletionVectorBytes.write(keys, bitmaps)

  /** Returns whether both vectors delete the same positions. */
  override def equals(that: Any): Boolean = that match {
    case other: DeletionVector => other.sameAs(keys, bitmaps)
    case _ => false
  }

  private def sameAs(otherKeys: Array[Int], otherBitmaps: Array[RoaringBitmap]): Boolean =
    Arrays.equals(keys, otherKeys) && bitmaps.sameElements(otherBitmaps)

  override def hashCode: Int = Arrays.hashCode(keys) * 31 + cardinality.hashCode

  override def toString: String = s"$cardinality deleted positions"

  /** Passes each key and its bitmap to `f`, which must not modify the bitmap. */
  private def foreachBitmap(f: (Int, RoaringBitmap) => Unit): Unit = keys.indices.foreach(i => f(keys(i), bitmaps(i)))
}

object DeletionVector {
  private val NoPositions = new RoaringBitmap
  private val LowBits = 0xffffffffL

  val Empty: DeletionVector = new DeletionVector(Array.emptyIntArray, Array.empty)

  def of(positions: Long*): DeletionVector = {
    val builder = newBuilder
    positions.foreach(builder += _)
    builder.result()
  }

  /**
   * Parses the vector in a blob.
   *
   * @param file the Puffin file, for messages
   * @param dataFile the file whose rows are deleted, for messages
   * @throws iceberglite.spec.IcebergError.UnreadableFile if the bytes are not a deletion vector, or are damaged
   */
  def parse(file: String, dataFile: String, bytes: Array[Byte]): DeletionVector =
    DeletionVectorBytes.read(file, dataFile, bytes)

  def newBuilder: Builder = new Builder

  /** Returns a vector with the given bitmaps, by ascending keys. Empty bitmaps are omitted. */
  private[iceberglite] def ofBitmaps(bitmaps: Seq[(Int, RoaringBitmap)]): DeletionVector = {
    val nonEmpty = bitmaps.filterNot(_._2.isEmpty).toArray
    if (nonEmpty.isEmpty) Empty else new DeletionVector(nonEmpty.map(_._1), nonEmpty.map(_._2))
  }

  private def high(key: Int): Long = key.toLong << Integer.SIZE

  /**
   * Collects positions in any order, with or without duplicates. The builder is not thread-safe, and must not be used
   * after `result` is called.
   */
  final class Builder private[DeletionVector] {
    private val bitmaps = new java.util.TreeMap[Int, RoaringBitmap]
    private var lastKey = -1
    private var lastBitmap = NoPositions

    /** Adds a position. @throws InvalidArgument if the position is negative */
    def +=(position: Long): this.type = {
      if (position < 0) throw InvalidArgument("deleted position", position.toString, "Positions start at 0")
      bitmapOf((position >>> Integer.SIZE).toInt).add(position.toInt)
      this
    }

    def ++=(vector: DeletionVector): this.type = {
      vector.foreachBitmap((key, bitmap) => bitmapOf(key).or(bitmap))
      this
    }

    def result(): DeletionVector = {
      val nonEmpty = Seq.newBuilder[(Int, RoaringBitmap)]
      bitmaps.forEach((key, bitmap) => nonEmpty += ((key, bitmap)))
      DeletionVector.ofBitmaps(nonEmpty.result())
    }

    private def bitmapOf(key: Int): RoaringBitmap = {
      if (key != lastKey) {
        lastBitmap = bitmaps.computeIfAbsent(key, _ => new RoaringBitmap)
        lastKey = key
      }
      lastBitmap
    }
  }
}
