package iceberglite.data.parquet.shred

import java.nio.ByteBuffer

import scala.collection.JavaConverters._

import org.apache.parquet.column.statistics.Statistics
import org.apache.parquet.hadoop.metadata.{BlockMetaData, ColumnPath, ParquetMetadata}

import iceberglite.data.VariantBoundsReader
import iceberglite.metrics.{CollectedValues, ColumnBounds, MetricsModes}
import iceberglite.parquet.ParquetMetrics
import iceberglite.spec.expr.VariantPart
import iceberglite.spec.file.MetricMaps
import iceberglite.spec.property.MetricsMode
import iceberglite.spec.property.MetricsMode.NoMetrics
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.Literal
import iceberglite.spec.types.Type.VariantType

/** Metrics of Parquet files with the metrics of their variants. */
private[iceberglite] object VariantMetrics {

  /**
   * Returns the metrics of a file.
   *
   * @param collected the metrics that are not in the footer, by field id
   * @see [[ParquetMetrics.of]]
   */
  def of(
      footer: ParquetMetadata,
      schema: Schema,
      modes: MetricsModes,
      collected: Map[Int, CollectedValues] = Map.empty
  ): ParquetMetrics = {
    val metrics = ParquetMetrics.of(footer, schema, modes, collected)
    val blocks = footer.getBlocks.asScala.toVector
    val columns = for {
      field <- schema.byId.values.toVector if field.fieldType == VariantType
      mode = modes.of(field.id) if mode != NoMetrics
      (group, names) <- TypedPart.groupOf(footer.getFileMetaData.getSchema, field.id)
    } yield Column(field.id, ColumnPath.get(names :+ VariantGroups.Metadata: _*), TypedPart.all(group, names), mode)
    if (columns.isEmpty) metrics else metrics.copy(metrics = added(metrics.metrics, columns, blocks))
  }

  /** A column of variants. @param metadata the column of the file that contains the names of their fields */
  final private case class Column(id: Int, metadata: ColumnPath, parts: Vector[TypedPart], mode: MetricsMode)

  private def added(maps: MetricMaps, columns: Vector[Column], blocks: Vector[BlockMetaData]): MetricMaps = {
    val counts = columns.flatMap(c => countsOf(c, blocks).map(c.id -> _)).toMap
    val bounds = columns.map(c => c.id -> boundsOf(c, blocks))
    def plus[V](map: Option[Map[Int, V]], more: Map[Int, V]) = map.map(_ ++ more)
    maps.copy(
      valueCounts = plus(maps.valueCounts, counts.map { case (id, (values, _)) => id -> values }),
      nullValueCounts = plus(maps.nullValueCounts, counts.map { case (id, (_, nulls)) => id -> nulls }),
      lowerBounds = plus(maps.lowerBounds, bounds.flatMap { case (id, (low, _)) => low.map(id -> _) }.toMap),
      upperBounds = plus(maps.upperBounds, bounds.flatMap { case (id, (_, high)) => high.map(id -> _) }.toMap)
    )
  }

  /** Returns the numbers of values and of nulls; absent if the file lacks statistics. Each variant has metadata. */
  private def countsOf(column: Column, blocks: Vector[BlockMetaData]): Option[(Long, Long)] = {
    val chunks = blocks.flatMap(_.getColumns.asScala.find(_.getPath == column.metadata))
    val statistics = chunks.flatMap(c => Option[Statistics[_]](c.getStatistics))
    if (chunks.size == blocks.size && statistics.size == blocks.size && statistics.forall(_.isNumNullsSet))
      Some((chunks.map(_.getValueCount).sum, statistics.map(_.getNumNulls).sum))
    else None
  }

  private def boundsOf(column: Column, blocks: Vector[BlockMetaData]): (Option[ByteBuffer], Option[ByteBuffer]) = {
    val ranges = column.parts.map(p => p -> p.valuesIn(blocks)).collect {
      case (part, TypedPart.Range(low, high)) => (part, low, high)
    }
    def encoded(bound: (TypedPart, Literal, Literal) => Option[Literal]) =
      VariantBoundsReader.encode(ranges.flatMap { case (part, low, high) =>
        bound(part, low, high).map(b => (VariantPart.nameOf(part.path), b, part.valueType))
      })
    (
      encoded((_, low, _) => ColumnBounds.lower(low, column.mode)),
      encoded((_, _, high) => ColumnBounds.upper(high, column.mode))
    )
  }
}
