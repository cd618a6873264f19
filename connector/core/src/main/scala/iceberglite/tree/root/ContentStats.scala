package iceberglite.tree.root

import iceberglite.data.{Record, RecordValues}
import iceberglite.spec.types.{Literal, PrimitiveType, Type}

/**
 * The statistics of a column or expression in a file or in all files of a manifest. The bounds are values of the
 * column's type. A statistic that is absent is unknown.
 *
 * @param tight whether both bounds are values that occur in the column
 * @param averageSize average size of the values that are not null, in bytes; only strings and binaries have sizes
 */
final private[root] case class FieldStats(
    lower: Option[Literal] = None,
    upper: Option[Literal] = None,
    tight: Option[Boolean] = None,
    valueCount: Option[Long] = None,
    nullCount: Option[Long] = None,
    nanCount: Option[Long] = None,
    averageSize: Option[Int] = None,
    maxSize: Option[Int] = None
) {

  /** Whether all values are known to be null or NaN. In this case, there are no bounds. */
  def hasNoOrdinaryValues: Boolean = valueCount.exists { values =>
    val special = nullCount.map(_ + nanCount.getOrElse(0L))
    special.exists(_ >= values)
  }

  def isEmpty: Boolean = this == FieldStats.Empty
}

private[root] object FieldStats {
  val Empty: FieldStats = FieldStats()
}

/** The struct `content_stats` (field 149): the statistics of columns and expressions by their ids. */
final private[root] case class ContentStats(byId: Map[Int, FieldStats]) {
  def get(id: Int): Option[FieldStats] = byId.get(id)

  /** Returns the statistics with bounds that are not tight. */
  def withLooseBounds: ContentStats = ContentStats(byId.map {
    case (id, s) if s.lower.isDefined || s.upper.isDefined => id -> s.copy(tight = Some(false))
    case (id, s) => id -> s.copy(tight = None)
  }.filterNot(_._2.isEmpty))
}

private[root] object ContentStats {
  val Empty: ContentStats = ContentStats(Map.empty)
}

/** Converts values of a primitive type, such as bounds. */
final private class LiteralCodec(t: PrimitiveType) extends RecordCodec[Literal] {
  override def fieldType: Type = t
  override def encode(value: Literal): AnyRef = RecordValues.primitive(value, t)
  override def decode(value: AnyRef): Literal = RecordValues.literal(value, t).getOrElse(fail(value))
}

/**
 * The statistics struct of one column or expression. The id of the column or expression determines the field ids: the
 * struct has the field id `10000 + 200 * id`, and its fields have this id plus a fixed offset.
 */
final private class FieldStatsStruct(column: StatsColumn) extends RecordStruct[FieldStats] {
  import RecordCodec.{Flag, Int32, Int64}

  private val base = column.structId
  private def isWhole: Boolean = !column.keyOnly
  private val bounds = column.boundType.map(new LiteralCodec(_))

  private val Lower = bounds.map(optional(base + 1, "lower_bound", _)(_.lower))
  private val Upper = bounds.filter(_ => isWhole).map(optional(base + 2, "upper_bound", _)(_.upper))
  private val Tight = bounds.filter(_ => isWhole).map(_ => optional(base + 3, "tight_bounds", Flag)(_.tight))
  private val ValueCount = onlyIf(isWhole)(optional(base + 4, "value_count", Int64)(_.valueCount))
  private val NullCount = onlyIf(isWhole)(optional(base + 5, "null_value_count", Int64)(_.nullCount))
  private val NanCount = onlyIf(column.isFloating)(optional(base + 6, "nan_value_count", Int64)(_.nanCount))
  private val AverageSize = onlyIf(column.hasSizes && isWhole)(
    optional(base + 7, "avg_value_size_in_bytes", Int32)(_.averageSize)
  )
  private val MaxSize = onlyIf(column.hasSizes && isWhole)(
    optional(base + 100, "max_value_size_in_bytes", Int32)(_.maxSize)
  )

  def fromRecord(row: Record): FieldStats = FieldStats(
    lower = value(row, Lower),
    upper = value(row, Upper),
    tight = value(row, Tight),
    valueCount = count(row, ValueCount),
    nullCount = count(row, NullCount),
    nanCount = count(row, NanCount),
    averageSize = value(row, AverageSize),
    maxSize = value(row, MaxSize)
  )

  private def value[V](row: Record, column: Option[RecordColumn[FieldStats, V]]): Option[V] =
    if (column.isEmpty) None else column.get.option(row)

  private def count(row: Record, counts: Option[RecordColumn[FieldStats, Long]]): Option[Long] = {
    val stored = value(row, counts)
    if (stored.isDefined && stored.get < 0) counts.foreach(failNegative(_, stored.get))
    stored
  }

  private def failNegative(counts: RecordColumn[FieldStats, Long], value: Long): Nothing = throw EntryFault(
    s"The ${counts.field.name} of the column ${column.name} must not be negative, but is $value"
  )

  private def onlyIf[A](condition: Boolean)(a: => A): Option[A] = if (condition) Some(a) else None
}

/** The struct `content_stats` of a table's manifests. */
final private[root] class ContentStatsStruct(columns: StatsColumns) extends RecordStruct[ContentStats] {
  private val fields = columns.all.map { c =>
    val struct = new FieldStatsStruct(c)
    c.id -> optional(c.structId, c.name, new RecordCodec.StructOf(struct, struct.fromRecord))(
      _.get(c.id).filterNot(_.isEmpty)
    )
  }

  def fromRecord(row: Record): ContentStats = ContentStats(fields.foldLeft(Map.empty[Int, FieldStats]) {
    case (byId, (id, field)) => field.option(row).fold(byId)(byId.updated(id, _))
  })

  /**
   * Returns the statistics of a column; empty if there are none.
   *
   * @param index the position of the column in [[StatsColumns.all]]
   * @param value the struct, or null
   */
  def fieldAt(index: Int, value: AnyRef): FieldStats = value match {
    case row: Record => fields(index)._2.option(row).getOrElse(FieldStats.Empty)
    case _ => FieldStats.Empty
  }
}
