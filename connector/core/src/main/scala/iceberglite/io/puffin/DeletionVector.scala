package iceberglite.io.puffin

import java.util.Arrays

import org.roaringbitmap.{IntConsumer, RoaringBitmap}

import iceberglite.spec.IcebergError.InvalidArgument

/**
 * The deleted rows of one data file, by their positions in it, from 0 on (adopted version 3: "Deletion vectors").
 * Immutable, and safe to ask from several threads.
 *
 * A position is a key, its upper 32 bits, and its lower 32 bits, which stand in the bitmap of that key.
 *
 * @param keys ascending, none negative, for the top bit of a position is 0
 * @param bitmaps one for each key, none of them empty; nobody changes them
 */
final class DeletionVector private (keys: Array[Int], bitmaps: Array[RoaringBitmap]) {

  /** Nearly every file has fewer rows than one bitmap holds. */
  private val first: RoaringBitmap = if (keys.nonEmpty && keys(0) == 0) bitmaps(0) else DeletionVector.NoPositions

  /** Whether the row at a position is deleted. */
  def isDeleted(position: Long): Boolean = {
    val key = (position >>> Integer.SIZE).toInt
    if (key == 0) first.contains(position.toInt)
    else {
      val at = Arrays.binarySearch(keys, key)
      at >= 0 && bitmaps(at).contains(position.toInt)
    }
  }

  /** How many rows are deleted. */
  lazy val cardinality: Long = bitmaps.iterator.map(_.getLongCardinality).sum

  def isEmpty: Boolean = keys.isEmpty

  /** About how much of the heap it takes. */
  lazy val bytes: Long = bitmaps.iterator.map(64L + _.getLongSizeInBytes).sum

  /** The positions, ascending. */
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

  /** The positions from `from` up to but not including `until`, ascending. */
  def foreachIn(from: Long, until: Long)(f: Long => Unit): Unit = {
    var i = 0
    while (i < keys.length && DeletionVector.high(keys(i)) < until) {
      val high = DeletionVector.high(keys(i))
      if ((high | DeletionVector.LowBits) >= from) {
        val positions = bitmaps(i).getIntIterator
        if (high < from) positions.advanceIfNeeded(from.toInt)
        var more = true
        while (more && positions.hasNext) {
          val position = high | Integer.toUnsignedLong(positions.next())
          more = position < until
          if (more) f(position)
        }
      }
      i += 1
    }
  }

  /** The rows that either of the two deletes. */
  def union(that: DeletionVector): DeletionVector =
    if (that.isEmpty) this
    else if (isEmpty) that
    else (DeletionVector.newBuilder ++= this ++= that).result()

  /** Whether the other vector deletes all rows that this one deletes. */
  def isSubsetOf(that: DeletionVector): Boolean = keys.indices.forall(i => that.holds(keys(i), bitmaps(i)))

  private def holds(key: Int, bitmap: RoaringBitmap): Boolean = {
    val at = Arrays.binarySearch(keys, key)
    at >= 0 && bitmaps(at).contains(bitmap)
  }

  /** The bytes of the blob that holds the vector. @throws InvalidArgument they are more than an array holds */
  def toBytes: Array[Byte] = DeletionVectorBytes.write(keys, bitmaps)

  /** Of the positions. */
  override def equals(that: Any): Boolean = that match {
    case other: DeletionVector => other.sameAs(keys, bitmaps)
    case _ => false
  }

  private def sameAs(otherKeys: Array[Int], others: Array[RoaringBitmap]): Boolean =
    Arrays.equals(keys, otherKeys) && bitmaps.sameElements(others)

  override def hashCode: Int = Arrays.hashCode(keys) * 31 + cardinality.hashCode

  override def toString: String = s"$cardinality deleted positions"

  /** Only for a builder, which copies them. */
  private def eachBitmap(f: (Int, RoaringBitmap) => Unit): Unit = keys.indices.foreach(i => f(keys(i), bitmaps(i)))
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
   * The vector of a blob.
   *
   * @param file the Puffin file, for messages
   * @param dataFile the file whose rows are deleted, for messages
   * @throws iceberglite.spec.IcebergError.UnreadableFile the bytes are no deletion vector, or damaged
   */
  def parse(file: String, dataFile: String, bytes: Array[Byte]): DeletionVector =
    DeletionVectorBytes.read(file, dataFile, bytes)

  def newBuilder: Builder = new Builder

  private[puffin] def ofBitmaps(bitmaps: Seq[(Int, RoaringBitmap)]): DeletionVector = {
    val held = bitmaps.filterNot(_._2.isEmpty).toArray
    if (held.isEmpty) Empty else new DeletionVector(held.map(_._1), held.map(_._2))
  }

  private def high(key: Int): Long = key.toLong << Integer.SIZE

  /** Collects positions in any order, and however often. One thread's, and not to be used after `result`. */
  final class Builder private[DeletionVector] {
    private val bitmaps = new java.util.TreeMap[Int, RoaringBitmap]
    private var lastKey = -1
    private var last = NoPositions

    /** @throws InvalidArgument where the position is negative */
    def +=(position: Long): this.type = {
      if (position < 0) throw InvalidArgument("deleted position", position.toString, "Positions start at 0")
      bitmapOf((position >>> Integer.SIZE).toInt).add(position.toInt)
      this
    }

    def ++=(vector: DeletionVector): this.type = {
      vector.eachBitmap((key, bitmap) => bitmapOf(key).or(bitmap))
      this
    }

    def result(): DeletionVector = {
      val held = Seq.newBuilder[(Int, RoaringBitmap)]
      bitmaps.forEach((key, bitmap) => held += ((key, bitmap)))
      DeletionVector.ofBitmaps(held.result())
    }

    private def bitmapOf(key: Int): RoaringBitmap = {
      if (key != lastKey) {
        last = bitmaps.computeIfAbsent(key, _ => new RoaringBitmap)
        lastKey = key
      }
      last
    }
  }
}
