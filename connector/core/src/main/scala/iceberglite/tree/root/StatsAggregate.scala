package iceberglite.tree.root

import iceberglite.spec.types.Literal

/**
 * Computes the statistics of a manifest from those of its files. A statistic is absent if any file lacks it: if a
 * statistic did not cover all files, scans could skip files with matching rows.
 */
private[root] object StatsAggregate {

  /**
   * Returns the statistics over all given entries.
   *
   * @param entries the entries of the files
   * @param keys the ids of the columns and expressions that have a single value in each file, so that an absent upper
   *   bound equals the lower bound. For other columns, an absent upper bound is unknown
   */
  def of(entries: Vector[ContentEntry], keys: Set[Int]): ContentStats =
    of(entries, keys, entries.headOption.fold(Set.empty[Int])(_.stats.byId.keySet))

  /** Returns the statistics of only the columns and expressions with the given ids. */
  def of(entries: Vector[ContentEntry], keys: Set[Int], ids: Set[Int]): ContentStats =
    ContentStats(ids.iterator.map(id => id -> column(entries, id, keys(id))).filterNot(_._2.isEmpty).toMap)

  /** Returns the statistics of one column or expression. @param isKey whether it has a single value in each file */
  def column(entries: Vector[ContentEntry], id: Int, isKey: Boolean): FieldStats = {
    val files = entries.flatMap(_.stats.get(id))
    if (files.isEmpty || files.size < entries.size) FieldStats.Empty else merge(files, isKey)
  }

  private def merge(files: Vector[FieldStats], isKey: Boolean): FieldStats = FieldStats(
    lower = bound(files)(_.lower, _.min(_)),
    upper = bound(files)(s => s.upper.orElse(s.lower.filter(_ => isKey)), _.max(_)),
    tight = if (files.forall(s => s.tight.contains(true) || s.hasNoOrdinaryValues)) Some(true) else None,
    valueCount = sum(files)(_.valueCount),
    nullCount = sum(files)(_.nullCount),
    nanCount = sum(files)(_.nanCount),
    averageSize = averageSize(files),
    maxSize = all(files)(_.maxSize).map(_.max)
  )

  /**
   * Returns a bound over all files. Files without a bound are ignored if all their values are null or NaN. A bound of
   * another writer is not ignored even then, because the counts may be wrong.
   */
  private def bound(files: Vector[FieldStats])(
      of: FieldStats => Option[Literal],
      choose: (Vector[Literal], Ordering[Literal]) => Literal
  ): Option[Literal] = {
    val relevant = files.filterNot(f => f.hasNoOrdinaryValues && of(f).isEmpty)
    all(relevant)(of).filter(isComparable).map(choose(_, Literal.ordering))
  }

  /**
   * Returns whether there are bounds, of one type. The bounds of an expression with an unknown transform may have
   * several types.
   */
  private def isComparable(bounds: Vector[Literal]): Boolean =
    bounds.nonEmpty && bounds.forall(_.getClass eq bounds.head.getClass)

  private def sum(files: Vector[FieldStats])(count: FieldStats => Option[Long]): Option[Long] =
    all(files)(count).map(_.sum)

  /** Returns the average size of the values that are not null. */
  private def averageSize(files: Vector[FieldStats]): Option[Int] = for {
    sizes <- all(files)(_.averageSize)
    values <- all(files)(s => for (values <- s.valueCount; nulls <- s.nullCount) yield math.max(0L, values - nulls))
    if values.sum > 0
  } yield (sizes.zip(values).map { case (size, count) => size.toDouble * count }.sum / values.sum).toInt

  /** Returns one statistic of each file; absent if any file lacks it. */
  private def all[V](files: Vector[FieldStats])(value: FieldStats => Option[V]): Option[Vector[V]] = {
    val values = files.flatMap(value(_))
    if (values.size == files.size) Some(values) else None
  }
}
