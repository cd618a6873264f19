package iceberglite.parquet

import java.nio.ByteBuffer

import scala.collection.JavaConverters._

import org.apache.parquet.column.ColumnDescriptor
import org.apache.parquet.column.statistics.Statistics
import org.apache.parquet.hadoop.metadata.{ColumnChunkMetaData, ParquetMetadata}
import org.apache.parquet.schema.{PrimitiveType => ParquetLeaf}
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName.INT96

import iceberglite.metrics.{ColumnBounds, CollectedValues, MetricsModes}
import iceberglite.spec.file.MetricMaps
import iceberglite.spec.property.MetricsMode
import iceberglite.spec.property.MetricsMode.{Counts, NoMetrics}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{Literal, NestedField, PrimitiveType, SingleValue}

/**
 * Metrics from the footer of a Parquet file.
 *
 * @param splitOffsets offsets of the row groups, ascending
 */
final case class ParquetMetrics(recordCount: Long, metrics: MetricMaps, splitOffsets: Vector[Long])

object ParquetMetrics {

  /**
   * Returns sizes, counts and bounds of the columns by field id (spec: `data_file`). Columns that have no id in the
   * file, are not in the schema, or have the mode `none` are omitted. Columns in lists and maps have
   * only sizes, as in Apache Iceberg, because their values do not correspond to rows.
   *
   * @param collected metrics that the writer collected for floating point columns and columns of geometries. For other
   *   columns, and for files of other writers, the statistics in the footer are used. These statistics contain no
   *   usable bounds if a value is NaN
   */
  def of(
      footer: ParquetMetadata,
      schema: Schema,
      modes: MetricsModes,
      collected: Map[Int, CollectedValues] = Map.empty
  ): ParquetMetrics = {
    val blocks = footer.getBlocks.asScala.toVector
    val chunks = blocks.flatMap(_.getColumns.asScala).groupBy(_.getPath.toArray.toVector)
    val columns = footer.getFileMetaData.getSchema.getColumns.asScala.toVector.map { description =>
      new Column(chunks.getOrElse(description.getPath.toVector, Vector.empty), description, schema, modes, collected)
    }.filter(_.mode != NoMetrics)
    val flat = columns.filterNot(_.isRepeated)
    val maps = MetricMaps(
      columnSizes = Some(byId(columns)(_.size)),
      valueCounts = Some(byId(flat)(_.valueCount)),
      nullValueCounts = Some(byId(flat)(_.nullCount)),
      nanValueCounts = Some(byId(flat)(_.nanCount)),
      lowerBounds = Some(byId(flat)(_.lowerBound)),
      upperBounds = Some(byId(flat)(_.upperBound))
    )
    ParquetMetrics(blocks.map(_.getRowCount).sum, maps, blocks.map(_.getStartingPos).sorted)
  }

  private def byId[V](columns: Vector[Column])(value: Column => Option[V]): Map[Int, V] =
    columns.flatMap(c => for (id <- c.id; v <- value(c)) yield id -> v).toMap

  /** A leaf column of the file's schema with its column chunks in all row groups. */
  final private class Column(
      chunks: Seq[ColumnChunkMetaData],
      description: ColumnDescriptor,
      schema: Schema,
      modes: MetricsModes,
      collected: Map[Int, CollectedValues]
  ) {
    private val leaf: ParquetLeaf = description.getPrimitiveType

    val id: Option[Int] = Option(leaf.getId).map(_.intValue)
    private val field: Option[NestedField] = id.flatMap(schema.byId.get)
    private val columnType: Option[PrimitiveType] = field.map(_.fieldType).collect { case p: PrimitiveType => p }

    val mode: MetricsMode = if (columnType.isEmpty) NoMetrics else id.fold[MetricsMode](NoMetrics)(modes.of)

    def isRepeated: Boolean = description.getMaxRepetitionLevel > 0

    def size: Option[Long] = if (chunks.isEmpty) None else Some(chunks.map(_.getTotalSize).sum)

    /**
     * The statistics of the column in all row groups; absent if any row group has no statistics, because the statistics
     * then do not cover all values of the column. Also absent for an INT96 column, because the order of its values is
     * not defined.
     */
    private lazy val statistics: Option[Seq[Statistics[_]]] = {
      val all: Seq[Statistics[_]] = chunks.flatMap(c => Option[Statistics[_]](c.getStatistics))
      val isComplete = all.size == chunks.size && all.forall(s => !s.isEmpty && s.isNumNullsSet)
      if (isComplete && leaf.getPrimitiveTypeName != INT96) Some(all) else None
    }

    def valueCount: Option[Long] = statistics.map(_ => chunks.map(_.getValueCount).sum)

    def nullCount: Option[Long] = statistics.map(_.map(_.getNumNulls).sum)

    private val ofWriter: Option[CollectedValues] = id.flatMap(collected.get)

    def nanCount: Option[Long] = ofWriter.flatMap(_.nans)

    def lowerBound: Option[ByteBuffer] = lower.map(SingleValue.encode)

    def upperBound: Option[ByteBuffer] = upper.map(SingleValue.encode)

    private def lower: Option[Literal] = bounds.flatMap { case (minimum, _) => ColumnBounds.lower(minimum, mode) }

    private def upper: Option[Literal] = bounds.flatMap { case (_, maximum) => ColumnBounds.upper(maximum, mode) }

    private lazy val bounds: Option[(Literal, Literal)] = ofWriter.fold(footerBounds)(_.bounds)

    /**
     * Returns the minimum and maximum over all row groups; absent if a row group has values but no bounds, or if a
     * bound is NaN or cannot be converted to the column's type.
     */
    private def footerBounds: Option[(Literal, Literal)] = for {
      t <- if (mode == Counts) None else columnType
      all <- statistics
      // Row groups in which all values are null have no bounds and are ignored. If another row group has no bounds, the
      // column has no bounds.
      withValues = all.zip(chunks).filter { case (s, c) => s.getNumNulls < c.getValueCount }.map(_._1)
      if withValues.nonEmpty && withValues.forall(_.hasNonNullValue)
      lowers = withValues.map(s => ParquetValues.literal(s.genericGetMin, leaf, t))
      uppers = withValues.map(s => ParquetValues.literal(s.genericGetMax, leaf, t))
      if (lowers ++ uppers).forall(_.exists(v => !ColumnBounds.isNan(v)))
    } yield ColumnBounds.ofStatistics(lowers.flatten.min(Literal.ordering), uppers.flatten.max(Literal.ordering))
  }
}
