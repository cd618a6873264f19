package iceberglite.parquet

import java.nio.ByteBuffer

import scala.collection.JavaConverters._

import org.apache.parquet.column.ColumnDescriptor
import org.apache.parquet.hadoop.metadata.{ColumnChunkMetaData, ColumnPath, ParquetMetadata}
import org.apache.parquet.schema.{PrimitiveType => ParquetLeaf}

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
    val groups = new RowGroupChunks(blocks)
    val columns = footer.getFileMetaData.getSchema.getColumns.asScala.toVector.map { description =>
      new Column(groups.of(ColumnPath.get(description.getPath: _*)), description, schema, modes, collected)
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

    private val ofFooter = new ColumnChunks(chunks, leaf)

    def valueCount: Option[Long] = ofFooter.valueCount

    def nullCount: Option[Long] = ofFooter.nullCount

    private val ofWriter: Option[CollectedValues] = id.flatMap(collected.get)

    def nanCount: Option[Long] = ofWriter.flatMap(_.nans)

    def lowerBound: Option[ByteBuffer] = lower.map(SingleValue.encode)

    def upperBound: Option[ByteBuffer] = upper.map(SingleValue.encode)

    private def lower: Option[Literal] = bounds.flatMap { case (minimum, _) => ColumnBounds.lower(minimum, mode) }

    private def upper: Option[Literal] = bounds.flatMap { case (_, maximum) => ColumnBounds.upper(maximum, mode) }

    private lazy val bounds: Option[(Literal, Literal)] = ofWriter.fold(footerBounds)(_.bounds)

    private def footerBounds: Option[(Literal, Literal)] =
      if (mode == Counts) None else columnType.flatMap(ofFooter.bounds)
  }
}
