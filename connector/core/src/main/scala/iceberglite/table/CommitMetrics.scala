package iceberglite.table

import iceberglite.spec.metadata.{Snapshot, SummaryKey}
import iceberglite.spec.rest.{Metric, MetricsReport}

/** Creates the reports of commits. */
private[table] object CommitMetrics {
  import SummaryKey._

  /** The counts in the summary of a snapshot, with the names that reports use. */
  private val counts: Vector[(String, String)] = Vector(
    AddedDataFiles -> "added-data-files",
    DeletedDataFiles -> "removed-data-files",
    TotalDataFiles -> "total-data-files",
    AddedDeleteFiles -> "added-delete-files",
    RemovedDeleteFiles -> "removed-delete-files",
    TotalDeleteFiles -> "total-delete-files",
    AddedPositionDeleteFiles -> "added-positional-delete-files",
    RemovedPositionDeleteFiles -> "removed-positional-delete-files",
    AddedEqualityDeleteFiles -> "added-equality-delete-files",
    RemovedEqualityDeleteFiles -> "removed-equality-delete-files",
    AddedDeletionVectors -> "added-dvs",
    RemovedDeletionVectors -> "removed-dvs",
    AddedRecords -> "added-records",
    DeletedRecords -> "removed-records",
    TotalRecords -> "total-records",
    AddedPositionDeletes -> "added-positional-deletes",
    RemovedPositionDeletes -> "removed-positional-deletes",
    TotalPositionDeletes -> "total-positional-deletes",
    AddedEqualityDeletes -> "added-equality-deletes",
    RemovedEqualityDeletes -> "removed-equality-deletes",
    TotalEqualityDeletes -> "total-equality-deletes"
  )

  private val sizes: Vector[(String, String)] = Vector(
    AddedFilesSize -> "added-files-size-bytes",
    RemovedFilesSize -> "removed-files-size-bytes",
    TotalFilesSize -> "total-files-size-bytes"
  )

  private val engineKeys: Set[String] = Set("engine-name", "engine-version", "iceberg-lite-version")

  /**
   * Returns the report of a committed snapshot.
   *
   * @param attempts the number of attempts of the commit
   * @param nanos the duration of all attempts in nanoseconds
   */
  def of(table: String, snapshot: Snapshot, attempts: Int, nanos: Long): MetricsReport = {
    def metrics(names: Vector[(String, String)], metric: Long => Metric) =
      names.flatMap { case (key, name) => snapshot.count(key).map(name -> metric(_)) }
    MetricsReport.OfCommit(
      table,
      snapshot.snapshotId,
      snapshot.sequenceNumber,
      snapshot.summary.getOrElse(Snapshot.OperationKey, ""),
      (metrics(counts, Metric.count) ++ metrics(sizes, Metric.bytes)).toMap +
        ("attempts" -> Metric.count(attempts.toLong)) + ("total-duration" -> Metric.timed(nanos)),
      snapshot.summary.filter { case (key, _) => engineKeys(key) }
    )
  }
}
