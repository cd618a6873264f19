package iceberglite.maintenance.health

import iceberglite.spec.metadata.{BlobType, Operation, Snapshot, StatisticsFile, TableMetadata}

/**
 * The statistics of a table.
 *
 * @param tableStatisticsAgeMs the time from the snapshot of the newest table statistics to the current snapshot, in
 *   milliseconds; absent if there are no statistics
 * @param partitionStatisticsAgeMs the time from the snapshot of the newest partition statistics to the current
 *   snapshot, in milliseconds; absent if there are no partition statistics
 * @param sketches the newest statistics file with numbers of distinct values; absent if there is none
 */
final case class StatisticsHealth(
    tableStatisticsAgeMs: Option[Long],
    partitionStatisticsAgeMs: Option[Long],
    sketches: Option[SketchHealth]
)

/**
 * The newest statistics file with numbers of distinct values.
 *
 * @param fieldIds the ids of the existing columns that the file describes
 * @param changedRows the number of rows that commits other than rewrites have added or deleted after the described
 *   snapshot; absent if it is unknown, because the described snapshot is not an ancestor of the current one or a
 *   snapshot in between has expired
 * @param rows the number of rows of the described snapshot; 0 if it is unknown
 */
final case class SketchHealth(fieldIds: Vector[Int], changedRows: Option[Long], rows: Long) {

  /** Whether at least a tenth of the rows has changed, or the number of changed rows is unknown. */
  def isStale: Boolean =
    fieldIds.nonEmpty && changedRows.forall(changed => changed > 0 && changed >= rows * SketchHealth.StaleRatio)
}

object SketchHealth {

  /** The ratio of changed rows from which statistics are stale. */
  private val StaleRatio = 0.1

  /** The keys of the summary entries whose sum is the number of rows that a snapshot has changed. */
  private val ChangeCounts = Seq("added-records", "deleted-records", "added-position-deletes", "added-equality-deletes")

  /** Returns the newest statistics file that has numbers of distinct values. */
  def newest(metadata: TableMetadata): Option[StatisticsFile] = {
    val files = metadata.statistics.filter(_.blobMetadata.exists(_.blobType == BlobType.ThetaSketch))
    files.flatMap(file => metadata.snapshotsById.get(file.snapshotId).map(file -> _.timestampMs))
      .sortBy(_._2).lastOption.map(_._1)
  }

  private[health] def of(metadata: TableMetadata): Option[SketchHealth] =
    for (file <- newest(metadata); described <- metadata.snapshotsById.get(file.snapshotId)) yield SketchHealth(
      file.blobMetadata.filter(_.blobType == BlobType.ThetaSketch).flatMap(_.fields).distinct
        .filter(id => metadata.schema.fields.exists(_.id == id)),
      metadata.currentSnapshot.flatMap(changedRows(metadata, described, _)),
      described.count("total-records").getOrElse(0L)
    )

  private def changedRows(metadata: TableMetadata, described: Snapshot, current: Snapshot): Option[Long] = {
    val (newer, rest) = metadata.ancestors(current).span(_.snapshotId != described.snapshotId)
    val changed = newer.filterNot(_.operation.contains(Operation.Replace.name))
      .map(snapshot => ChangeCounts.flatMap(snapshot.count).sum).sum
    if (rest.hasNext) Some(changed) else None
  }
}
