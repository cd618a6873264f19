package iceberglite.spark.read.aggregate

import iceberglite.scan.FileScanTask
import iceberglite.spark.read.stats.{ColumnStats, ColumnStatsByFile, FileRowCount}
import iceberglite.spec.types.Literal
import iceberglite.spec.types.Literal.LongLiteral

/**
 * The value of one aggregate over the files with one GROUP BY key; each file is added once. Whether the value is exact
 * is known only after all files are added.
 */
sealed private[aggregate] trait Tally {
  def add(task: FileScanTask): Unit

  /** Returns whether the metadata of all files that were added determines the exact value. */
  def isExact: Boolean

  /** The value; absent for null. It is valid only if [[isExact]] is true. */
  def value: Option[Literal]
}

/** Counts rows. */
final private[aggregate] class RowTally extends Tally {
  private var sum = 0L
  private var exact = true

  override def add(task: FileScanTask): Unit = FileRowCount.of(task).exactCount match {
    case Some(rows) => sum += rows
    case None => exact = false
  }

  override def isExact: Boolean = exact

  override def value: Option[Literal] = Some(LongLiteral(sum))
}

/** Counts values that are not null. */
final private[aggregate] class ValueTally(stats: ColumnStatsByFile) extends Tally {
  private var sum = 0L
  private var exact = true

  override def add(task: FileScanTask): Unit = stats(task).valueCount match {
    case Some(values) => sum += values
    case None => exact = false
  }

  override def isExact: Boolean = exact

  override def value: Option[Literal] = Some(LongLiteral(sum))
}

/**
 * Finds the minimum or the maximum.
 *
 * The bound of a file may be the value of a deleted row, or a value that no row has. Such a bound does not affect the
 * result if a row of another file has a value that precedes the bound in the ordering, or equals it.
 *
 * @param bound returns the bound of a file: the lower bound for a minimum, the upper bound for a maximum
 * @param ordering the order of values: ascending for a minimum, descending for a maximum
 */
final private[aggregate] class ExtremeTally(
    stats: ColumnStatsByFile,
    bound: ColumnStats => Option[Literal],
    ordering: Ordering[Literal]
) extends Tally {
  private var hasAllBounds = true
  private var outermostBound: Option[Literal] = None
  private var liveExtreme: Option[Literal] = None

  override def add(task: FileScanTask): Unit = if (hasAllBounds) {
    val column = stats(task)
    if (!column.hasNoValue) bound(column) match {
      case None => hasAllBounds = false
      case Some(value) =>
        outermostBound = first(outermostBound, value)
        if (column.isLiveValue(value)) liveExtreme = first(liveExtreme, value)
    }
  }

  private def first(current: Option[Literal], value: Literal): Option[Literal] =
    if (current.exists(ordering.lteq(_, value))) current else Some(value)

  override def isExact: Boolean =
    hasAllBounds && outermostBound.forall(outermost => liveExtreme.exists(ordering.lteq(_, outermost)))

  override def value: Option[Literal] = liveExtreme
}
