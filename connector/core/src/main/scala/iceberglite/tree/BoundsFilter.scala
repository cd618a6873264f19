package iceberglite.tree

import iceberglite.spec.file.{ColumnExtent, ColumnExtents, ContentFile, Metrics, PartSummary}
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.partition.Identity
import iceberglite.spec.types.{Literal, NestedField}

/**
 * The bounds of a few columns of given files. As a filter, it accepts the parts of a metadata tree whose own bounds
 * overlap with those of any file. Only parts of version 4 have bounds of columns that are not partition columns.
 *
 * The bounds of a part contain those of its files only if these follow the rules of the specification. Therefore, a
 * column is not used if the bounds of any file are unknown, in the wrong order, or those of a column without ordinary
 * values. Columns that are identity partition fields are not used either, because their values may come from the
 * partition instead of the file; [[FilePartitions]] compares them.
 */
final private[iceberglite] class BoundsFilter(files: Vector[ContentFile], base: TableMetadata) extends PartFilter {
  import BoundsFilter._

  /** The first [[MaxColumns]] columns of which all files have bounds, those of the sort order first. */
  private lazy val columns: Vector[Column] =
    if (files.exists(_.metrics eq Metrics.Empty)) Vector.empty
    else candidates.iterator.flatMap(columnOf(_, files)).take(MaxColumns).toVector

  private def candidates: Vector[NestedField] = {
    val identities = files.map(_.specId).distinct.flatMap(base.specsById(_).fields).filter(_.transform == Identity)
    val sorted = base.sortOrder.fields.map(_.sourceId)
    val (first, others) = base.schema.byId.values.toVector
      .filter(f => ColumnExtents.hasBounds(f) && !identities.exists(_.sourceId == f.id))
      .sortBy(_.id)
      .partition(f => sorted.contains(f.id))
    first ++ others
  }

  override def mightMatch(part: PartSummary): Boolean =
    (part.metrics eq Metrics.Empty) || columns.forall(_.mightMatch(part))
}

private object BoundsFilter {

  /** The maximum number of columns. For each column, the statistics of all files of a leaf are decoded. */
  private val MaxColumns = 4

  /**
   * The bounds of one column.
   *
   * @param lowers the lower bounds of the files, in ascending order
   * @param uppers for each lower bound, the highest upper bound of the files that have this lower bound or a lower one
   */
  final private class Column(field: NestedField, lowers: Array[Literal], uppers: Array[Literal]) {
    private val extents = new ColumnExtents(Vector(field))

    def mightMatch(part: PartSummary): Boolean = {
      val extent = extents.of(part).head
      (for (start <- extent.lower; end <- extent.upper) yield overlaps(start, end)).getOrElse(true)
    }

    private def overlaps(start: Literal, end: Literal): Boolean = {
      val last = lastAtMost(end)
      last >= 0 && Literal.ordering.gteq(uppers(last), start)
    }

    /** Returns the position of the last lower bound that is at most the given value; -1 if there is none. */
    private def lastAtMost(value: Literal): Int = {
      var (from, until) = (0, lowers.length)
      while (from < until) {
        val middle = (from + until) >>> 1
        if (Literal.ordering.lteq(lowers(middle), value)) from = middle + 1 else until = middle
      }
      from - 1
    }
  }

  private def columnOf(field: NestedField, files: Vector[ContentFile]): Option[Column] = {
    val extents = new ColumnExtents(Vector(field))
    val bounds = files.iterator.map(file => boundsOf(extents.of(file).head))
    // Ends at the first file without bounds, so that the statistics of other leaves are not decoded.
    val known = bounds.takeWhile(_.isDefined).flatten.toVector
    if (known.isEmpty || known.size < files.size) None
    else {
      val sorted = known.sortBy(_._1)(Literal.ordering)
      val uppers = sorted.map(_._2)
      val highest = uppers.scanLeft(uppers.head)(Literal.ordering.max(_, _)).tail
      Some(new Column(field, sorted.map(_._1).toArray, highest.toArray))
    }
  }

  private def boundsOf(extent: ColumnExtent): Option[(Literal, Literal)] = for {
    lower <- extent.lower
    upper <- extent.upper if Literal.ordering.lteq(lower, upper) && extent.mayBeOrdinary
  } yield (lower, upper)
}
