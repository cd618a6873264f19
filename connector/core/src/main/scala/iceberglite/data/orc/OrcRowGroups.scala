package iceberglite.data.orc

import scala.collection.JavaConverters._
import scala.util.Try

import org.apache.orc.{OrcProto, StripeInformation}
import org.apache.orc.impl.{OrcIndex, PositionProvider, ReaderImpl}
import org.apache.orc.impl.RecordReaderImpl.{PositionProviderImpl, ZeroPositionProvider}

import iceberglite.spec.expr.Expression
import iceberglite.spec.expr.Expression.AlwaysTrue

/**
 * A split of a data file, and the filter for its rows.
 *
 * @param start the split contains the stripes whose middle is between `start` (inclusive) and `start + length`
 *   (exclusive), in bytes
 * @param filter used only to skip stripes and row groups. The result can contain rows that do not match
 * @param withoutNan the columns of the filter that are known to contain no NaN
 */
final private[iceberglite] case class OrcPart(
    start: Long,
    length: Long,
    filter: Expression = AlwaysTrue,
    withoutNan: Set[Int] = Set.empty
)

private[iceberglite] object OrcPart {
  val Whole: OrcPart = OrcPart(0L, Long.MaxValue)
}

/** A stripe and the position in the file of its first row. */
final private[orc] case class OrcStripe(stripe: StripeInformation, firstRow: Long) {
  def rows: Long = stripe.getNumberOfRows
}

/** Selects the stripes of a split that may contain matching rows. */
final private[orc] class OrcStripeSelection(file: ReaderImpl, part: OrcPart, skipping: OrcSkipping) {
  private lazy val statistics = file.getStripeStatistics

  def iterator: Iterator[OrcStripe] = {
    val stripes = file.getStripes.asScala.toVector
    val firstRows = stripes.scanLeft(0L)(_ + _.getNumberOfRows)
    stripes.indices.iterator.map(i => i -> OrcStripe(stripes(i), firstRows(i))).collect {
      case (i, stripe) if stripe.rows > 0 && isInPart(stripe.stripe) && mightMatch(i, stripe) => stripe
    }
  }

  private def isInPart(stripe: StripeInformation): Boolean = {
    val middle = stripe.getOffset + stripe.getLength / 2
    middle >= part.start && middle - part.start < part.length
  }

  /**
   * Returns whether a stripe may contain matching rows, according to its statistics. The time zone of the stripe's
   * writer is unknown, because the stripe footer has not been read yet.
   */
  private def mightMatch(index: Int, stripe: OrcStripe): Boolean =
    skipping.hasNoFilter || index >= statistics.size || {
      val ofStripe = statistics.get(index)
      // Some writers omit the statistics of some columns.
      skipping.mightMatch(stripe.rows, column => Try(ofStripe.getColumn(column)).toOption, timesInUtc = false)
    }
}

/**
 * The row groups to read of one stripe, as runs of consecutive groups.
 *
 * @param size rows per group; the last group may have fewer
 * @param selection for each group, whether to read it; absent if all groups are read
 */
final private[orc] class OrcRowGroups(
    stripe: OrcStripe,
    size: Long,
    val index: Option[OrcIndex],
    val selection: Option[Array[Boolean]]
) {
  private var row = 0L
  private var runEnd = 0L

  def isAtEnd: Boolean = row >= runEnd && nextGroup.isEmpty

  def rowsLeftInRun: Long = runEnd - row

  /** The position in the file of the next row. */
  def position: Long = stripe.firstRow + row

  def advance(rows: Int): Unit = row += rows

  /**
   * Moves to the next run if the current run is at its end. Returns the group to which the decoders must seek; absent
   * if they need not seek.
   */
  def toNextRun(): Option[Int] =
    if (row < runEnd) None
    else {
      val firstGroup = nextGroup.get
      val lastGroup =
        selection.fold(firstGroup)(s => (firstGroup + 1 until s.length).find(!s(_)).getOrElse(s.length) - 1)
      val firstRow = firstGroup * size
      val mustSeek = firstRow != row
      row = firstRow
      runEnd = if (selection.isEmpty) stripe.rows else math.min((lastGroup + 1) * size, stripe.rows)
      if (mustSeek) Some(firstGroup) else None
    }

  private def nextGroup: Option[Int] =
    if (row >= stripe.rows) None
    else {
      val group = (row / size).toInt
      selection.fold(Option(group))(c => (group until c.length).find(c(_)))
    }

  /** Returns the positions at which a row group begins in the streams of each column. */
  def positions(group: Int): Array[PositionProvider] =
    index.fold(Array.empty[PositionProvider])(_.getRowGroupIndex.map(Option(_).map(start(_, group)).orNull))

  /**
   * Returns the positions at which a row group begins in the streams of one column. Old writers omit the positions of
   * the first group. In this case, all positions are zero.
   */
  private def start(column: OrcProto.RowIndex, group: Int): PositionProvider = {
    val entry = column.getEntry(group)
    if (group == 0 && entry.getPositionsCount == 0) new ZeroPositionProvider else new PositionProviderImpl(entry)
  }
}

private[orc] object OrcRowGroups {
  def all(stripe: OrcStripe): OrcRowGroups = new OrcRowGroups(stripe, stripe.rows, None, None)

  /** Returns the row groups to read; absent if no row group can be skipped. */
  def selected(
      stripe: OrcStripe,
      size: Int,
      index: OrcIndex,
      skipping: OrcSkipping,
      timesInUtc: Boolean
  ): Option[OrcRowGroups] = {
    val count = ((stripe.rows + size - 1) / size).toInt
    val ofColumns = index.getRowGroupIndex
    def statistics(group: Int)(column: Int): Option[OrcProto.ColumnStatistics] =
      Option(ofColumns(column)).filter(_.getEntryCount == count).map(_.getEntry(group))
        .filter(_.hasStatistics).map(_.getStatistics)
    val selection = Array.tabulate(count) { group =>
      val rows = math.min(size.toLong, stripe.rows - group.toLong * size)
      skipping.mightMatch(rows, statistics(group), timesInUtc)
    }
    if (selection.forall(identity)) None else Some(new OrcRowGroups(stripe, size.toLong, Some(index), Some(selection)))
  }
}
