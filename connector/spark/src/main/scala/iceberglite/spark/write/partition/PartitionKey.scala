package iceberglite.spark.write.partition

import java.util

import org.apache.spark.unsafe.types.UTF8String

/**
 * The partition values of the current row. Numbers are in a separate array to avoid boxing. The object is reused for
 * every row; a [[retained]] copy keeps its values.
 */
final private[write] class PartitionKey(size: Int) {
  private val numbers = new Array[Long](size)
  private val objects = new Array[AnyRef](size)

  def setNull(i: Int): Unit = {
    numbers(i) = 0L
    objects(i) = PartitionKey.Null
  }

  def setNumber(i: Int, value: Long): Unit = {
    numbers(i) = value
    objects(i) = PartitionKey.Number
  }

  /**
   * Sets a value other than a number.
   *
   * @param value an object that is compared by value. A Spark string may refer to the bytes of the row, which are
   *   reused for the next row
   */
  def setObject(i: Int, value: AnyRef): Unit = {
    numbers(i) = 0L
    objects(i) = value
  }

  def isNull(i: Int): Boolean = objects(i) eq PartitionKey.Null
  def number(i: Int): Long = numbers(i)
  def objectAt(i: Int): AnyRef = objects(i)

  /** Returns a copy that does not change with later rows. */
  def retained: PartitionKey = {
    val copy = new PartitionKey(size)
    (0 until size).foreach { i =>
      copy.numbers(i) = numbers(i)
      copy.objects(i) = objects(i) match {
        case text: UTF8String => text.copy
        case other => other
      }
    }
    copy
  }

  override def equals(that: Any): Boolean = that match {
    case other: PartitionKey => util.Arrays.equals(numbers, other.numbers) && sameObjects(other)
    case _ => false
  }

  private def sameObjects(other: PartitionKey): Boolean = {
    var i = 0
    while (i < size && ((objects(i) eq other.objects(i)) || objects(i).equals(other.objects(i)))) i += 1
    i == size
  }

  override def hashCode: Int = {
    var hash = util.Arrays.hashCode(numbers)
    var i = 0
    while (i < size) {
      hash = 31 * hash + objects(i).hashCode
      i += 1
    }
    hash
  }
}

private[iceberglite] object PartitionKey {
  private object Null
  private object Number
}
