package iceberglite.data.orc

import org.apache.hadoop.hive.ql.exec.vector.{ColumnVector, MultiValuedColumnVector}

/** Manages the entries of lists and maps. The entries are stored in separate vectors, in the order of their rows. */
private[iceberglite] object OrcEntries {

  /** Reserves `count` entries for a row and returns the index of the first one. */
  def startEntries(vector: MultiValuedColumnVector, row: Int, count: Int): Int = {
    val first = vector.childCount
    vector.offsets(row) = first.toLong
    vector.lengths(row) = count.toLong
    vector.childCount = first + count
    first
  }

  /** Ensures capacity in a vector of entries. */
  def ensureCapacity(entries: ColumnVector, count: Int): Unit = {
    val capacity = entries.isNull.length
    if (count > capacity) entries.ensureSize(math.max(count, capacity * 2), true)
  }
}
