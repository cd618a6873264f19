package iceberglite.parquet

import scala.collection.JavaConverters._

import org.apache.parquet.column.statistics.Statistics
import org.apache.parquet.hadoop.metadata.{BlockMetaData, ColumnChunkMetaData, ColumnPath}
import org.apache.parquet.schema.{PrimitiveType => ParquetLeaf}
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName.INT96

import iceberglite.metrics.ColumnBounds
import iceberglite.spec.types.{Literal, PrimitiveType}

/** The chunks of one column in row groups. */
final private[iceberglite] class ColumnChunks(chunks: Seq[ColumnChunkMetaData], leaf: ParquetLeaf) {

  /**
   * The statistics of the column in all row groups; absent if any row group has no statistics, because the statistics
   * then do not cover all values of the column. Also absent for an INT96 column, because the order of its values is not
   * defined.
   */
  private lazy val statistics: Option[Seq[Statistics[_]]] = {
    val all: Seq[Statistics[_]] = chunks.flatMap(c => Option[Statistics[_]](c.getStatistics))
    val isComplete = all.size == chunks.size && all.forall(s => !s.isEmpty && s.isNumNullsSet)
    if (isComplete && leaf.getPrimitiveTypeName != INT96) Some(all) else None
  }

  def valueCount: Option[Long] = statistics.map(_ => chunks.map(_.getValueCount).sum)

  def nullCount: Option[Long] = statistics.map(_.map(_.getNumNulls).sum)

  /** Whether all values are null; absent if this is unknown. */
  def hasOnlyNulls: Option[Boolean] = withValues.map(_.isEmpty)

  /** The statistics of the row groups that have values other than null. The other row groups have no bounds. */
  private lazy val withValues: Option[Seq[Statistics[_]]] =
    statistics.map(_.zip(chunks).collect { case (s, c) if s.getNumNulls < c.getValueCount => s })

  /**
   * Returns the minimum and maximum over all row groups; absent if there are no values, if a row group has values but
   * no bounds, or if a bound is NaN or cannot be converted to the type.
   */
  def bounds(t: PrimitiveType): Option[(Literal, Literal)] = for {
    all <- withValues if all.nonEmpty && all.forall(_.hasNonNullValue)
    lowers = all.map(s => ParquetValues.literal(s.genericGetMin, leaf, t))
    uppers = all.map(s => ParquetValues.literal(s.genericGetMax, leaf, t))
    if (lowers ++ uppers).forall(_.exists(v => !ColumnBounds.isNan(v)))
  } yield ColumnBounds.ofStatistics(lowers.flatten.min(Literal.ordering), uppers.flatten.max(Literal.ordering))
}

/** The column chunks of row groups, by column. */
final private[iceberglite] class RowGroupChunks(blocks: Seq[BlockMetaData]) {
  private val byPath = blocks.map(_.getColumns.asScala.groupBy(_.getPath))

  /** Returns the chunks of a column; none if there are no row groups, or if the column is missing in all of them. */
  def of(column: ColumnPath): Seq[ColumnChunkMetaData] = byPath.flatMap(_.getOrElse(column, Seq.empty))

  /** Returns the chunks of a column; absent if a row group does not have exactly one. */
  def complete(column: ColumnPath): Option[Seq[ColumnChunkMetaData]] =
    Some(byPath.map(_.getOrElse(column, Seq.empty))).filter(_.forall(_.size == 1)).map(_.flatten)
}
