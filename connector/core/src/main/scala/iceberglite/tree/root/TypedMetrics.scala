package iceberglite.tree.root

import java.nio.ByteBuffer

import scala.collection.concurrent.TrieMap

import iceberglite.spec.file.{MetricMaps, Metrics}
import iceberglite.spec.types.{Literal, SingleValue}
import iceberglite.spec.types.Literal._
import iceberglite.tree.DecodedMetrics

/** Metrics of columns whose bounds are values. A bound is encoded when it is requested. */
abstract private[root] class TypedMetrics extends DecodedMetrics {

  /** Returns the statistics of a column; empty if there are none. */
  def stats(id: Int): FieldStats

  /** Returns the statistics of all columns and expressions that have statistics. */
  def allStats: Vector[(Int, FieldStats)]

  /** Returns whether the statistics with the given id are those of a column, and not of an expression. */
  protected def isColumn(id: Int): Boolean

  final override def columnSize(id: Int): Option[Long] = None
  final override def valueCount(id: Int): Option[Long] = stats(id).valueCount
  final override def nullValueCount(id: Int): Option[Long] = stats(id).nullCount
  final override def nanValueCount(id: Int): Option[Long] = stats(id).nanCount
  final override def lowerBound(id: Int): Option[ByteBuffer] = stats(id).lower.map(SingleValue.encode)
  final override def upperBound(id: Int): Option[ByteBuffer] = stats(id).upper.map(SingleValue.encode)

  final override def lowerNumber(id: Int, width: Int): Long =
    TypedMetrics.number(stats(id).lower, width).getOrElse(super.lowerNumber(id, width))

  final override def upperNumber(id: Int, width: Int): Long =
    TypedMetrics.number(stats(id).upper, width).getOrElse(super.upperNumber(id, width))

  final override def columnSizes: Option[Map[Int, Long]] = None
  final override def valueCounts: Option[Map[Int, Long]] = all(_.valueCount)
  final override def nullValueCounts: Option[Map[Int, Long]] = all(_.nullCount)
  final override def nanValueCounts: Option[Map[Int, Long]] = all(_.nanCount)
  final override def lowerBounds: Option[Map[Int, ByteBuffer]] = all(_.lower.map(SingleValue.encode))
  final override def upperBounds: Option[Map[Int, ByteBuffer]] = all(_.upper.map(SingleValue.encode))

  final override def encodedBytes: Long = EntrySizes.statsBytes(allStats.map(_._2))

  /** Returns these metrics without the metrics of other files of the same leaf, which would stay in memory. */
  final def detached: Metrics = {
    val all = allStats.toMap
    EntryMetrics.of(all, all.keySet.filterNot(isColumn))
  }

  private def all[V](value: FieldStats => Option[V]): Option[Map[Int, V]] =
    Some(allStats.iterator.filter(s => isColumn(s._1)).flatMap { case (id, s) => value(s).map(id -> _) }.toMap)
      .filter(_.nonEmpty)

  final override def only(ids: Set[Int]): Metrics =
    if (ids.isEmpty) Metrics.Empty
    else {
      prepare(ids)
      EntryMetrics.of(ids.iterator.map(id => id -> stats(id)).toMap)
    }

  /** Prepares calls of [[stats]] for the given columns. This is faster than to load the columns one by one. */
  protected def prepare(ids: Set[Int]): Unit

  /** Returns the object that Java serialization writes. */
  final protected def writeReplace(): AnyRef = maps

  private def maps: MetricMaps =
    MetricMaps(None, valueCounts, nullValueCounts, nanValueCounts, lowerBounds, upperBounds)

  final override def equals(that: Any): Boolean = that match {
    case other: TypedMetrics => maps == other.maps
    case _ => false
  }

  final override def hashCode: Int = maps.hashCode

  final override def toString: String = maps.toString
}

private object TypedMetrics {

  /** Returns a bound of a column of integers, dates or microsecond timestamps as a number; absent for other bounds. */
  private def number(bound: Option[Literal], width: Int): Option[Long] = bound match {
    case Some(LongLiteral(v)) if width == 8 => Some(v)
    case Some(IntLiteral(v)) if width == 4 => Some(v.toLong)
    case Some(DateLiteral(v)) if width == 4 => Some(v.toLong)
    case Some(TimestampLiteral(v)) if width == 8 => Some(v)
    case Some(TimestampTzLiteral(v)) if width == 8 => Some(v)
    case _ => None
  }
}

/** The metrics of one file or manifest. @param expressions the ids of the statistics of expressions */
final private[root] class EntryMetrics private (byId: Map[Int, FieldStats], expressions: Set[Int])
    extends TypedMetrics {
  override def stats(id: Int): FieldStats = byId.getOrElse(id, FieldStats.Empty)
  override def allStats: Vector[(Int, FieldStats)] = byId.toVector
  override protected def prepare(ids: Set[Int]): Unit = ()
  override protected def isColumn(id: Int): Boolean = !expressions(id)
}

private[root] object EntryMetrics {

  /** Returns the metrics of columns and expressions by their ids. @param expressions the ids of expressions */
  def of(byId: Map[Int, FieldStats], expressions: Set[Int] = Set.empty): Metrics = {
    val known = if (byId.valuesIterator.exists(_.isEmpty)) byId.filterNot(_._2.isEmpty) else byId
    if (known.isEmpty) Metrics.Empty else new EntryMetrics(known, expressions)
  }
}

/**
 * The metrics of all files in a part of a tree. The statistics of a column are computed when they are first requested.
 * Thread-safe.
 *
 * @param keys the ids of the columns that have a single value in each file; see [[StatsAggregate]]
 */
final private[root] class AggregatedMetrics(entries: Vector[ContentEntry], keys: Set[Int], columns: StatsColumns)
    extends TypedMetrics {
  private val computed = TrieMap.empty[Int, FieldStats]

  override def stats(id: Int): FieldStats =
    if (!isColumn(id)) FieldStats.Empty
    else computed.getOrElseUpdate(id, StatsAggregate.column(entries, id, keys(id)))

  override def allStats: Vector[(Int, FieldStats)] = columns.all.map(c => c.id -> stats(c.id)).filterNot(_._2.isEmpty)
  override protected def prepare(ids: Set[Int]): Unit = ()
  override protected def isColumn(id: Int): Boolean = columns.isColumn(id)
}

/**
 * The metrics of a file that a leaf manifest lists. This object keeps the statistics of all files of the leaf in
 * memory.
 *
 * @param row the position of the file's entry in the leaf
 * @param identities the ids of the columns that are identity partition fields of the file's partition spec. Other
 *   writers may omit the upper bounds of these columns, because they equal the lower bounds
 */
final private[root] class LeafMetrics(leaf: LeafStatistics, row: Int, identities: Set[Int]) extends TypedMetrics {
  override def stats(id: Int): FieldStats = {
    val own = leaf.of(id, row)
    if (own.upper.isEmpty && own.lower.isDefined && identities(id)) own.copy(upper = own.lower) else own
  }

  override def allStats: Vector[(Int, FieldStats)] = leaf.allIds.map(id => id -> stats(id)).filterNot(_._2.isEmpty)

  override protected def prepare(ids: Set[Int]): Unit = leaf.prepare(ids)

  override protected def isColumn(id: Int): Boolean = leaf.columns.isColumn(id)
}
