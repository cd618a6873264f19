package iceberglite.spec.rest

import iceberglite.spec.expr.Expression
import iceberglite.spec.types.NestedField

/** A measured value of a [[MetricsReport]]. */
sealed trait Metric

object Metric {

  /** @param unit `count` or `bytes` */
  final case class Counter(unit: String, value: Long) extends Metric

  /** @param totalNanos the total duration of `count` measurements, in nanoseconds */
  final case class Timer(count: Long, totalNanos: Long) extends Metric

  def count(value: Long): Metric = Counter("count", value)
  def bytes(value: Long): Metric = Counter("bytes", value)

  /** Returns the timer of one measurement. @param nanos the duration in nanoseconds */
  def timed(nanos: Long): Metric = Timer(1, nanos)
}

/** The metrics of one operation on a table (REST OpenAPI description: `ReportMetricsRequest`). */
sealed trait MetricsReport {

  /** The full name of the table, with the catalog. */
  def table: String

  /** The snapshot that was read or committed. */
  def snapshotId: Long

  /** The metrics by their names, such as `result-data-files`. */
  def metrics: Map[String, Metric]

  /** Further information, such as the name and version of the compute engine. */
  def metadata: Map[String, String]
}

object MetricsReport {

  /**
   * The planning of a scan.
   *
   * @param filter the filter of the scan. Its JSON contains the types of the constants instead of their values
   * @param fields the columns that the scan reads
   */
  final case class OfScan(
      table: String,
      snapshotId: Long,
      filter: Expression,
      schemaId: Int,
      fields: Vector[NestedField],
      metrics: Map[String, Metric],
      metadata: Map[String, String]
  ) extends MetricsReport

  /**
   * A commit of a snapshot.
   *
   * @param operation the operation of the snapshot, such as `append`
   */
  final case class OfCommit(
      table: String,
      snapshotId: Long,
      sequenceNumber: Long,
      operation: String,
      metrics: Map[String, Metric],
      metadata: Map[String, String]
  ) extends MetricsReport
}
