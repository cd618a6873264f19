package iceberglite.tree

import iceberglite.spec.file.{ColumnExtents, ContentFile, Metrics, PartSummary}
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.types.{Literal, NestedField}

/**
 * The bounds of the columns of given files. As a filter, it accepts the parts of a metadata tree whose own bounds
 * overlap with those of any file. Only parts of version 4 have bounds of columns that are not partition columns.
 */
final private[iceberglite] class BoundsFilter(files: Vector[ContentFile], base: TableMetadata) extends PartFilter {

  /** The columns of which all files have bounds. */
  private lazy val columns: Vector[BoundsFilter.Column] =
    if (files.exists(_.metrics eq Metrics.Empty)) Vector.empty
    else base.schema.byId.values.toVector.filter(ColumnExtents.hasBounds).flatMap(BoundsFilter.columnOf(_, files))

  override def mightMatch(part: PartSummary): Boolean =
    (part.metrics eq Metrics.Empty) || columns.forall(_.mightMatch(part))
}

private object BoundsFilter {

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
    val bounds = files.flatMap { file =>
      val extent = extents.of(file).head
      for (lower <- extent.lower; upper <- extent.upper) yield (lower, upper)
    }
    if (bounds.isEmpty || bounds.size < files.size) None
    else {
      val sorted = bounds.sortBy(_._1)(Literal.ordering)
      val uppers = sorted.map(_._2)
      val highest = uppers.scanLeft(uppers.head)(Literal.ordering.max(_, _)).tail
      Some(new Column(field, sorted.map(_._1).toArray, highest.toArray))
    }
  }
}
