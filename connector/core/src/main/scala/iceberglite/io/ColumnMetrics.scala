package iceberglite.io

import java.nio.ByteBuffer

import iceberglite.spec.{Literal, MetricMaps, SingleValue}

/**
 * What a writer has seen in one column of a file.
 *
 * @param nans absent where the values are no floating point numbers
 * @param bounds the least and the greatest value; absent where there is none, or none is asked for
 */
final case class ColumnMetrics(id: Int, nulls: Long, nans: Option[Long], bounds: Option[(Literal, Literal)])

object ColumnMetrics {

  /**
   * What metadata keeps of a file (spec: `data_file`).
   *
   * @param records of the file; each has a value for each of the columns
   * @param sizes of the columns in the file; absent for formats that store rows
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
