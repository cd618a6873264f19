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
   * Whether the bounds show that the files are clustered. Clustering divides n files in about log2(n) of the columns.
   * Therefore the files must be separated in this number of columns, or in all columns if there are fewer. If there are
   * only a few files, their boxes overlap even if the files are clustered. Therefore a few files of an expired snapshot
   * count as clustered. Otherwise they would be rewritten after each expiration of snapshots.
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

  /**
   * The approximate number of files in a sample of a run. Each file of the sample is compared with all other files of
   * the run.
   */
  private val SampleSize = 256

  /**
   * Files are not clustered in a column if the average file overlaps more files than this multiple of the number that
   * it would overlap in an ideal grid. For files along a Hilbert curve, the multiple is below 2.
   */
  private val Tolerance = 3.0

  /**
   * Files are not clustered in a column if the average file overlaps more than this share of the other files,
   * regardless of the number of files.
   */
  private val MaxShare = 0.75

  /** Returns the minimum number of files for which the overlap tells whether the files are clustered. */
  private def reliable(columns: Int): Int = 4 << columns
}
