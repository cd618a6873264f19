package iceberglite.maintenance.health

import iceberglite.maintenance.ComputeTableStatistics
import iceberglite.scan.BloomIndex
import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.metadata.{BlobType, Encryption, Operation, Snapshot, StatisticsFile, SummaryKey}
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.types.NestedField

/**
 * The statistics of a table.
 *
 * @param tableStatistics how far the table statistics are behind the current snapshot; absent if there are none
 * @param partitionStatistics how far the partition statistics are behind the current snapshot; absent if there are none
 * @param sketches the statistics file with numbers of distinct values; absent if there is none
 * @param isIndexed whether the table has columns with a Bloom index
 * @param isBloomIndexOld whether the table has columns with a Bloom index, but the current snapshot has no Bloom index
 *   that covers all of its files
 */
final case class StatisticsHealth(
    tableStatistics: Option[StatisticsAge],
    partitionStatistics: Option[StatisticsAge],
    sketches: Option[SketchHealth],
    isIndexed: Boolean,
    isBloomIndexOld: Boolean
)

object StatisticsHealth {
  private[iceberglite] def of(metadata: TableMetadata): StatisticsHealth = StatisticsHealth(
    StatisticsAge.of(metadata, metadata.statistics.filter(Encryption.isReadable(metadata, _)).map(_.snapshotId)),
    StatisticsAge.of(metadata, Encryption.readablePartitionStatistics(metadata).map(_.snapshotId)),
    SketchHealth.of(metadata),
    indexedColumns(metadata).nonEmpty,
    metadata.currentSnapshot.exists { current =>
      indexedColumns(metadata).exists { column =>
        !BloomIndex.fileOf(metadata, Some(current), column.id)
          .exists(file => file.snapshotId == current.snapshotId && !BloomIndex.isPartial(file))
      }
    }
  )

  /** Returns the columns of the Bloom index; none if the property is invalid, which `compute_table_stats` reports. */
  private def indexedColumns(metadata: TableMetadata): Vector[NestedField] =
    try BloomIndex.columns(metadata)
    catch { case _: InvalidArgument => Vector.empty }
}

/**
 * How far the statistics of a table are behind its current snapshot. Timestamps alone do not show this, because
 * statistics may describe a snapshot that is newer than the current one, for example after a rollback, or if they were
 * computed for another branch.
 *
 * @param isCurrent whether the statistics describe the current snapshot
 * @param ageMs the time from the nearest ancestor with statistics to the current snapshot, in milliseconds; absent if
 *   only snapshots that are not ancestors of the current snapshot have statistics
 */
final case class StatisticsAge(isCurrent: Boolean, ageMs: Option[Long])

object StatisticsAge {

  /** @param snapshotIds the ids of the snapshots that have statistics, including snapshots that have expired */
  private[health] def of(metadata: TableMetadata, snapshotIds: Vector[Long]): Option[StatisticsAge] = {
    val described = snapshotIds.filter(metadata.snapshotsById.contains).toSet
    metadata.currentSnapshot.filter(_ => described.nonEmpty).map { current =>
      val nearest = metadata.ancestors(current).find(snapshot => described(snapshot.snapshotId))
      StatisticsAge(
        described(current.snapshotId),
        nearest.map(snapshot => math.max(0L, current.timestampMs - snapshot.timestampMs))
      )
    }
  }
}

/**
 * The state of the statistics file that [[SketchHealth.fileOf]] returns, which contains numbers of distinct values.
 *
 * @param fieldIds the ids of the existing columns that the file describes
 * @param changedRows the estimated number of rows that commits other than rewrites have added or deleted after the
 *   described snapshot, see [[ChangedRows]]; absent if it is unknown, because the described snapshot is not an ancestor
 *   of the current one, or this snapshot or one in between has expired
 * @param rows the number of rows of the described snapshot; 0 if it is unknown
 * @param copiedRows the number of rows that copy-on-write statements have written again after the described snapshot. A
 *   row counts once for each such statement
 * @param isReadable whether the file can be read, see [[Encryption.isReadable]]
 */
final case class SketchHealth(
    fieldIds: Vector[Int],
    changedRows: Option[Long],
    rows: Long,
    copiedRows: Long = 0,
    isReadable: Boolean = true
) {

  /**
   * Whether the file cannot be read, at least a tenth of the rows has changed, or the number of changed rows is
   * unknown. It is not known how many of the copied rows were updated, so a copied row counts as a tenth of a changed
   * row. If there are only copied rows, the statistics are stale once the number of copied rows reaches the number of
   * rows of the table. Computing the statistics again then reads no more rows than the statements have written.
   */
  def isStale: Boolean = fieldIds.nonEmpty && (!isReadable || changedRows.forall { changed =>
    changed + copiedRows > 0 && changed + copiedRows * SketchHealth.StaleRatio >= rows * SketchHealth.StaleRatio
  })
}

object SketchHealth {

  /** The ratio of changed rows from which statistics are stale. */
  private val StaleRatio = 0.1

  /**
   * Returns a statistics file that has numbers of distinct values: that of the current snapshot or of its nearest
   * ancestor that has such a file. If there is none, the file of the snapshot with the latest time is returned.
   */
  def fileOf(metadata: TableMetadata): Option[StatisticsFile] = {
    val files = metadata.statistics.filter(_.blobMetadata.exists(_.blobType == BlobType.ThetaSketch))
    def latest = files.flatMap(file => metadata.snapshotsById.get(file.snapshotId).map(file -> _.timestampMs))
      .sortBy(_._2).lastOption.map(_._1)
    metadata.currentSnapshot.flatMap(ComputeTableStatistics.fileOf(metadata, _)).orElse(latest)
  }

  private[health] def of(metadata: TableMetadata): Option[SketchHealth] =
    for (file <- fileOf(metadata) if metadata.snapshotsById.contains(file.snapshotId)) yield {
      val sketches = file.blobMetadata.filter(_.blobType == BlobType.ThetaSketch)
      // Sketches that were copied to the statistics file of a newer snapshot describe the older snapshot.
      val described = metadata.snapshotsById.get(sketches.minBy(_.sequenceNumber).snapshotId)
      SketchHealth(
        sketches.flatMap(_.fields).distinct.filter(id => metadata.schema.fields.exists(_.id == id)),
        described.flatMap(newer(metadata, _)).map(_.map(ChangedRows.of).sum),
        described.flatMap(_.count(SummaryKey.TotalRecords)).getOrElse(0L),
        described.flatMap(newer(metadata, _)).fold(0L)(_.map(ChangedRows.copied).sum),
        Encryption.isReadable(metadata, file)
      )
    }

  /**
   * Returns the snapshots after the described one, up to and including the current one, without rewrites; absent if the
   * described snapshot is not a known ancestor of the current one.
   */
  private def newer(metadata: TableMetadata, described: Snapshot): Option[Vector[Snapshot]] = {
    val ancestors = metadata.currentSnapshot.iterator.flatMap(metadata.ancestors)
    val (newer, rest) = ancestors.span(_.snapshotId != described.snapshotId)
    val changes = newer.filterNot(_.operation.contains(Operation.Replace.name)).toVector
    if (rest.hasNext) Some(changes) else None
  }
}
