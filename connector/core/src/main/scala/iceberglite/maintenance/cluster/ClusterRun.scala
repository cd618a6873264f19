package iceberglite.maintenance.cluster

import iceberglite.maintenance.cluster.ClusterRun._

/**
 * The data files of a partition that one snapshot added, without those that must be rewritten for other reasons.
 *
 * @param boxes the box of each file; at least one
 * @param isExpired whether the snapshot has expired, so that its summary is unknown
 */
final private[maintenance] class ClusterRun(boxes: Vector[Box], isExpired: Boolean) {

  /**
   * Whether the bounds show that the files are clustered. The boxes of few files overlap even if the files are
   * clustered. If the snapshot has expired, few files therefore count as clustered; otherwise they would be rewritten
   * after each expiration of snapshots.
   */
  def isClustered: Boolean = boxes.size == 1 || isExpired && boxes.size < reliable(columns) ||
    overlappingColumns.size <= columns - math.min(columns, log2(boxes.size))

  private def columns: Int = boxes.head.lower.size

  /** Returns the columns in which the files overlap more than the files of a clustered table do. */
  private def overlappingColumns: Seq[Int] = {
    val size = boxes.size
    val limit = math.min(MaxShare, Tolerance * math.pow(size.toDouble, -1.0 / columns))
    val sample = boxes.indices.by(math.max(1, size / SampleSize))
    (0 until columns).filter { column =>
      val overlaps = sample.iterator.map { i =>
        val box = boxes(i)
        if (box.isPointIn(column)) 0L else boxes.count(_.overlapsIn(column, box)) - 1L
      }
      overlaps.sum > limit * sample.size * (size - 1)
    }
  }

  private def log2(n: Int): Int = 31 - Integer.numberOfLeadingZeros(n)
}

private[maintenance] object ClusterRun {

  /** The number of files of a run that are compared with its other files. */
  private val SampleSize = 256

  /**
   * The ratio of the share of files that a file overlaps in a column to that in an ideal grid, from which files are not
   * clustered. The ratio of files along a Hilbert curve is below 2.
   */
  private val Tolerance = 3.0

  /** The minimum share of overlapping files of a run that is not clustered, regardless of the number of its files. */
  private val MaxShare = 0.75

  /** Returns the minimum number of files for which the overlap tells whether the files are clustered. */
  private def reliable(columns: Int): Int = 4 << columns
}
