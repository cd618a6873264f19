package iceberglite.spark.rules

import iceberglite.scan.FileScanTask
import iceberglite.spark.conf.ReadSettings
import iceberglite.spark.read.partitioning.GroupTerm
import iceberglite.spec.partition.{Identity, Void}

/**
 * Finds terms by which the two sides of a join can be grouped, so that matching rows are in groups with the same key.
 */
private[iceberglite] object GroupMatch {

  /** Terms, each with the position of its key. */
  private type Terms = Vector[(Int, GroupTerm)]
  private type Groups = Option[Vector[Vector[FileScanTask]]]

  /**
   * The number of bytes of both sides whose shuffle takes about as long as an additional task. Each group is a task,
   * regardless of its size.
   */
  private val BytesPerTask = 1L << 20

  /** The maximum ratio of the longest task to the duration with evenly distributed rows. */
  private val Skew = 4L

  /** Returns the terms of both sides. @param needsAllKeys whether Spark needs a term for each key */
  def of(left: JoinSide, right: JoinSide, needsAllKeys: Boolean): Option[(Terms, Terms)] = {
    val found = (left.isGrouped, right.isGrouped) match {
      case (true, true) => None
      case (true, false) => matching(left, right)
      case (false, true) => matching(right, left).map(_.swap)
      case (false, false) => Some(common(left, right))
    }
    found.filter { case (terms, _) =>
      terms.exists(_._2.transform != Void) && (!needsAllKeys || terms.map(_._1).sorted == left.keys.indices)
    }
  }

  /** Returns the terms of one side that is grouped already, and the matching terms of the other side. */
  private def matching(grouped: JoinSide, other: JoinSide): Option[(Terms, Terms)] =
    grouped.existingTerms.flatMap { terms =>
      val same = terms.flatMap { case (position, term) => other.equivalentTerm(term, position).map(position -> _) }
      if (same.size == terms.size) Some((terms, same)) else None
    }

  private def common(left: JoinSide, right: JoinSide): (Terms, Terms) = {
    val pairs = left.keys.indices.flatMap { position =>
      val ofColumn = left.keys(position).toVector.flatMap { case (_, c) => left.terms.filter(_.column.id == c.id) }
      val (identities, others) = ofColumn.partition(_.transform == Identity)
      (identities ++ others ++ left.voidTerm(position))
        .flatMap(term => right.equivalentTerm(term, position).map(same => (position -> term, position -> same)))
        .headOption
    }
    pairs.toVector.unzip
  }

  /** Whether grouping pays off: both sides have data, and the groups are neither too many nor too uneven. */
  def paysOff(left: Groups, right: Groups, settings: ReadSettings, parallelism: Int): Boolean =
    (left ++ right).size == 2 && {
      val sizes = (left ++ right).map(_.map(_.iterator.map(_.length).sum)).toVector
      val total = sizes.flatten.sum
      val even = math.max(settings.splitSize, total / math.max(1, parallelism))
      sizes.forall { groups =>
        groups.nonEmpty && groups.max <= Skew * even &&
        groups.size <= math.max(settings.sufficientGroups.toLong, total / BytesPerTask)
      }
    }
}
