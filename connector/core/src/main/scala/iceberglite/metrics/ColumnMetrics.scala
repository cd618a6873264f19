package iceberglite.metrics

import java.nio.ByteBuffer

import iceberglite.spec.file.MetricMaps
import iceberglite.spec.types.{Literal, SingleValue}

/**
 * Metrics that a writer collected for one column of a file.
 *
 * @param nans number of NaNs; absent if the column is not a floating point column
 * @param bounds the minimum and the maximum value; absent if the column has no values or no bounds are collected
 */
final case class ColumnMetrics(id: Int, nulls: Long, nans: Option[Long], bounds: Option[(Literal, Literal)])

object ColumnMetrics {

  /**
   * Returns the metrics of a file for its manifest entry (spec: `data_file`).
   *
   * @param records number of records in the file, which is also the value count of each column
   * @param sizes sizes of the columns in the file, in bytes; absent for row-oriented formats
   */
  def metrics(
      records: Long,
      columns: Vector[ColumnMetrics],
      modes: MetricsModes,
      sizes: Option[Map[Int, Long]]
  ): MetricMaps = MetricMaps(
    columnSizes = sizes,
    valueCounts = Some(columns.map(_.id -> records).toMap),
    nullValueCounts = Some(columns.map(c => c.id -> c.nulls).toMap),
    nanValueCounts = Some(columns.flatMap(c => c.nans.map(c.id -> _)).toMap),
    lowerBounds = Some(bounds(columns)(c => c.bounds.flatMap(b => ColumnBounds.lower(b._1, modes.of(c.id))))),
    upperBounds = Some(bounds(columns)(c => c.bounds.flatMap(b => ColumnBounds.upper(b._2, modes.of(c.id)))))
  )

  private def bounds(columns: Vector[ColumnMetrics])(bound: ColumnMetrics => Option[Literal]): Map[Int, ByteBuffer] =
    columns.flatMap(c => bound(c).map(c.id -> SingleValue.encode(_))).toMap
}
