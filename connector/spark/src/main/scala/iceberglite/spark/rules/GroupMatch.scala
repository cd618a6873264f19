package iceberglite.spark.rules

import iceberglite.scan.FileScanTask
import iceberglite.spark.conf.ReadSettings
import iceberglite.spark.read.partitioning.GroupTerm
import iceberglite.spec.partition.{Identity, Void}

/**
 * Finds partition terms by which the two sides of a join can be grouped, so that matching rows are in groups with the
 * same key.
 */
private[iceberglite] object GroupMatch {

  /** The partition terms of one side, each with the position of its column among the join keys. */
  private type Terms = Vector[(Int, GroupTerm)]
  private type Groups = Option[Vector[Vector[FileScanTask]]]

  /**
   * The cost of an additional task, as the number of bytes that Spark shuffles in the same time. Each group is a task,
   * regardless of its size.
   */
  private val BytesPerTask = 1L << 20

  /**
   * The maximum ratio of the size of the largest group to the size that each task would have if the rows were
   * distributed evenly.
   */
  private val Skew = 4L

  /**
   * Returns the terms by which both sides are grouped.
   *
   * @param needsAllKeys whether Spark's settings require a term for each join key
   * @return absent if both sides are already grouped, or if they are not partitioned by the same terms of join keys
   */
  def of(left: JoinSide, right: JoinSide, needsAllKeys: Boolean): Option[(Terms, Terms)] = {
    val termsOfSides = (left.isGrouped, right.isGrouped) match {
      case (true, true) => None
      case (true, false) => matching(left, right)
      case (false, true) => matching(right, left).map(_.swap)
      case (false, false) => Some(common(left, right))
    }
    termsOfSides.filter { case (terms, _) =>
      terms.exists(_._2.transform != Void) && (!needsAllKeys || terms.map(_._1).sorted == left.keys.indices)
    }
  }

  /** Returns the terms of a side that is already grouped, and the matching terms of the other side. */
  private def matching(grouped: JoinSide, other: JoinSide): Option[(Terms, Terms)] =
    grouped.existingTerms.flatMap { terms =>
      val otherTerms = terms.flatMap { case (position, term) =>
        other.equivalentTerm(term, position).map(position -> _)
      }
      if (otherTerms.size == terms.size) Some((terms, otherTerms)) else None
    }

  private def common(left: JoinSide, right: JoinSide): (Terms, Terms) = {
    val pairs = left.keys.indices.flatMap { position =>
      val columnTerms = left.keys(position).toVector.flatMap { case (_, c) => left.terms.filter(_.column.id == c.id) }
      val (identities, others) = columnTerms.partition(_.transform == Identity)
      (identities ++ others ++ left.voidTerm(position))
        .flatMap(term => right.equivalentTerm(term, position).map(same => (position -> term, position -> same)))
        .headOption
    }
    pairs.toVector.unzip
  }

  /**
   * Whether grouping makes the join faster. This requires that both sides have data, that there are not too many
   * groups, and that the sizes of the groups do not differ too much.
   */
  def paysOff(left: Groups, right: Groups, settings: ReadSettings, parallelism: Int): Boolean =
    (left ++ right).size == 2 && {
      val sizes = (left ++ right).map(_.map(_.iterator.map(_.length).sum)).toVector
      val total = sizes.flatten.sum
      val evenSize = math.max(settings.splitSize, total / math.max(1, parallelism))
      sizes.forall { groups =>
        groups.nonEmpty && groups.max <= Skew * evenSize &&
        groups.size <= math.max(settings.sufficientGroups.toLong, total / BytesPerTask)
      }
    }
}
