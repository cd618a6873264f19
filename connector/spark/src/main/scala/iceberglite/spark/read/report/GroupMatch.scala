package iceberglite.spark.read.report

import iceberglite.scan.FileScanTask
import iceberglite.spark.conf.ReadSettings
import iceberglite.spec.transform.{Identity, Void}

/** By what the two sides of a join can be grouped so that rows which meet are in groups of one key. */
private[report] object GroupMatch {

  /** Terms, each with the position of the key that it is of. */
  private type Terms = Vector[(Int, GroupTerm)]
  private type Groups = Option[Vector[Vector[FileScanTask]]]

  /**
   * The bytes on both sides for which moving the rows takes longer than a task of their own. Each group is a task, however
   * little it holds.
   */
  private val WorthTask = 1L << 20

  /** The longest task may take so many times what it would take with all rows spread evenly. */
  private val Skew = 4L

  /** @param isWhole whether Spark wants a term for each key */
  def of(left: JoinSide, right: JoinSide, isWhole: Boolean): Option[(Terms, Terms)] = {
    val found = (left.isGrouped, right.isGrouped) match {
      case (true, true) => None
      case (true, false) => after(left, right)
      case (false, true) => after(right, left).map(_.swap)
      case (false, false) => Some(common(left, right))
    }
    found.filter { case (terms, _) =>
      terms.exists(_._2.transform != Void) && (!isWhole || terms.map(_._1).sorted == left.keys.indices)
    }
  }

  /** What one is grouped by, and the same of the other. */
  private def after(grouped: JoinSide, other: JoinSide): Option[(Terms, Terms)] = grouped.fixed.flatMap { terms =>
    val same = terms.flatMap { case (position, term) => other.like(term, position).map(position -> _) }
    if (same.size == terms.size) Some((terms, same)) else None
  }

  private def common(left: JoinSide, right: JoinSide): (Terms, Terms) = {
    val pairs = left.keys.indices.flatMap { position =>
      val ofColumn = left.keys(position).toVector.flatMap { case (_, c) => left.terms.filter(_.column.id == c.id) }
      val (identities, others) = ofColumn.partition(_.transform == Identity)
      (identities ++ others ++ left.anything(position))
        .flatMap(term => right.like(term, position).map(same => (position -> term, position -> same))).headOption
    }
    pairs.toVector.unzip
  }

  /** Whether there is something to read on both sides, in groups neither too many nor too uneven. */
  def isWorth(left: Groups, right: Groups, settings: ReadSettings, parallelism: Int): Boolean =
    (left ++ right).size == 2 && {
      val sizes = (left ++ right).map(_.map(_.iterator.map(_.length).sum)).toVector
      val total = sizes.flatten.sum
      val even = math.max(settings.splitSize, total / math.max(1, parallelism))
      sizes.forall { groups =>
        groups.nonEmpty && groups.max <= Skew * even &&
        groups.size <= math.max(settings.groupsAtLeast.toLong, total / WorthTask)
      }
    }
}
