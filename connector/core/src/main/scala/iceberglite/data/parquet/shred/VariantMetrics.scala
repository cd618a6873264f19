package iceberglite.data.parquet.shred

import java.nio.ByteBuffer

import scala.collection.JavaConverters._

import org.apache.parquet.hadoop.metadata.{ColumnPath, ParquetMetadata}

import iceberglite.data.VariantBoundsReader
import iceberglite.metrics.{CollectedValues, ColumnBounds, MetricsModes}
import iceberglite.parquet.{ColumnChunks, ParquetMetrics, RowGroupChunks}
import iceberglite.spec.expr.VariantPart
import iceberglite.spec.file.MetricMaps
import iceberglite.spec.property.MetricsMode
import iceberglite.spec.property.MetricsMode.NoMetrics
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{Literal, VariantFields}
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
    val groups = new RowGroupChunks(footer.getBlocks.asScala.toVector)
    val file = footer.getFileMetaData.getSchema
    val columns = for {
      field <- schema.byId.values.toVector if field.fieldType == VariantType
      mode = modes.of(field.id) if mode != NoMetrics
      (group, names) <- TypedPart.groupOf(file, field.id)
      metadata = for {
        leaf <- TypedPart.field(group, VariantFields.Metadata) if leaf.isPrimitive
        chunks <- groups.complete(ColumnPath.get(names :+ VariantFields.Metadata: _*))
      } yield new ColumnChunks(chunks, leaf.asPrimitiveType)
    } yield Column(field.id, metadata, TypedPart.all(group, names), mode)
    if (columns.isEmpty) metrics else metrics.copy(metrics = added(metrics.metrics, columns, groups))
  }

  /**
   * A column of variants.
   *
   * @param metadata the names of the fields of the variants; absent if they are missing in a row group
   */
  final private case class Column(
      id: Int,
      metadata: Option[ColumnChunks],
      parts: Vector[TypedPart],
      mode: MetricsMode
  )

  private def added(maps: MetricMaps, columns: Vector[Column], groups: RowGroupChunks): MetricMaps = {
    val counts = columns.flatMap(c => countsOf(c).map(c.id -> _)).toMap
    val bounds = columns.map(c => c.id -> boundsOf(c, groups))
    def plus[V](map: Option[Map[Int, V]], more: Map[Int, V]) = map.map(_ ++ more)
    maps.copy(
      valueCounts = plus(maps.valueCounts, counts.map { case (id, (values, _)) => id -> values }),
      nullValueCounts = plus(maps.nullValueCounts, counts.map { case (id, (_, nulls)) => id -> nulls }),
      lowerBounds = plus(maps.lowerBounds, bounds.flatMap { case (id, (low, _)) => low.map(id -> _) }.toMap),
      upperBounds = plus(maps.upperBounds, bounds.flatMap { case (id, (_, high)) => high.map(id -> _) }.toMap)
    )
  }

  /** Returns the numbers of values and of nulls; absent if the file lacks statistics. Each variant has metadata. */
  private def countsOf(column: Column): Option[(Long, Long)] =
    for (chunks <- column.metadata; values <- chunks.valueCount; nulls <- chunks.nullCount) yield (values, nulls)

  private def boundsOf(column: Column, groups: RowGroupChunks): (Option[ByteBuffer], Option[ByteBuffer]) = {
    val ranges = column.parts.map(p => p -> p.valuesIn(groups)).collect {
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
