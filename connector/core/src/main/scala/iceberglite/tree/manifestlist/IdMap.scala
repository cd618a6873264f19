package iceberglite.tree.manifestlist

import java.util.Arrays

import iceberglite.spec.ReadMostlyMap

/**
 * A map by field id, stored in two arrays that are sorted by id. It is used instead of a tree map because it is faster
 * to build, and most maps are used for at most one lookup.
 *
 * @param ids ascending, without duplicates
 */
final private[manifestlist] class IdMap[V] private (ids: Array[Int], values: Array[V])
    extends ReadMostlyMap[Int, V] {
  override def size: Int = ids.length

  override def get(id: Int): Option[V] = {
    val index = Arrays.binarySearch(ids, id)
    if (index < 0) None else Some(values(index))
  }

  override def iterator: Iterator[(Int, V)] = ids.indices.iterator.map(i => ids(i) -> values(i))
}

private[manifestlist] object IdMap {

  /**
   * Returns a map of ids to values.
   *
   * @param ids the ids in any order, without duplicates
   * @param values the values of these ids. The map takes ownership of both arrays
   */
  def apply[V](ids: Array[Int], values: Array[V]): Map[Int, V] = {
    if (!isAscending(ids)) sort(ids, values)
    new IdMap(ids, values)
  }

  private def isAscending(ids: Array[Int]): Boolean = {
    var i = 1
    while (i < ids.length && ids(i - 1) < ids(i)) i += 1
    i >= ids.length
  }

  private def sort[V](ids: Array[Int], values: Array[V]): Unit = {
    val idsWithIndex = new Array[Long](ids.length)
    ids.indices.foreach(i => idsWithIndex(i) = ids(i).toLong << 32 | i)
    Arrays.sort(idsWithIndex)
    val oldValues = values.clone()
    idsWithIndex.indices.foreach { i =>
      ids(i) = (idsWithIndex(i) >> 32).toInt
      values(i) = oldValues(idsWithIndex(i).toInt)
    }
  }
}
