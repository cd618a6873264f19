package iceberglite.data.orc

import org.apache.hadoop.hive.ql.exec.vector.{ColumnVector, MultiValuedColumnVector}

/** The places of the entries of lists and maps, which stand in vectors of their own, one row's after the other's. */
private[iceberglite] object OrcEntries {

  /** Gives a row `count` entries. @return the place of the first of them */
  def begin(vector: MultiValuedColumnVector, row: Int, count: Int): Int = {
    val first = vector.childCount
    vector.offsets(row) = first.toLong
    vector.lengths(row) = count.toLong
    vector.childCount = first + count
    first
  }

  /** Makes room in a vector of entries. */
  def ensure(entries: ColumnVector, count: Int): Unit = {
    val there = entries.isNull.length
    if (count > there) entries.ensureSize(math.max(count, there * 2), true)
  }
}
