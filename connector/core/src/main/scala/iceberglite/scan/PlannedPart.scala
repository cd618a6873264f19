package iceberglite.scan

import iceberglite.spec.file.ManifestEntry
import iceberglite.spec.partition.PartitionSpec

/**
 * The files that a scan reads from one part of the metadata tree (a manifest in format versions 1 to 3).
 *
 * @param pruned the number of live files of the part that the scan does not read
 * @param records the number of rows in the files to read, including deleted rows
 * @param bytes the total size of the files to read, in bytes
 * @param omitted the files among `pruned` that [[filter]] has omitted
 */
final private[scan] case class PlannedPart(
    tasks: Vector[FileScanTask],
    pruned: Int,
    records: Long,
    bytes: Long,
    omitted: Vector[FileScanTask] = Vector.empty
) {

  /** Returns the part without the files for which `isRead` returns false. */
  def filter(isRead: FileScanTask => Boolean): PlannedPart = {
    val (kept, others) = tasks.partition(isRead)
    if (others.isEmpty) this
    else PlannedPart(
      kept,
      pruned + others.size,
      records - others.iterator.map(_.file.recordCountOrZero).sum,
      bytes - others.iterator.map(_.file.fileSizeInBytes).sum,
      omitted ++ others
    )
  }
}

private[scan] object PlannedPart {

  /** Returns the files of all the given parts, with the sums of their counts. */
  def merge(parts: Vector[PlannedPart]): PlannedPart = PlannedPart(
    parts.flatMap(_.tasks),
    parts.map(_.pruned).sum,
    parts.map(_.records).sum,
    parts.map(_.bytes).sum,
    parts.flatMap(_.omitted)
  )

  /**
   * Selects the files to read. The selection is idempotent, so it can be applied to entries that executors have already
   * selected.
   */
  def of(
      entries: Iterator[ManifestEntry],
      spec: PartitionSpec,
      filters: PartitionFilters,
      statsToKeep: StatsToKeep
  ): PlannedPart = {
    val tasks = Vector.newBuilder[FileScanTask]
    var pruned = 0
    var records, bytes = 0L
    entries.foreach { e =>
      if (e.isLive) {
        val filter = filters.of(e.file.partition)
        if (filter.mightMatch(e.file)) {
          val (file, sequenceNumber) = (statsToKeep.of(e.file), e.sequenceNumber.getOrElse(0L))
          tasks += FileScanTask.whole(file, sequenceNumber, spec, filter.residual, e.snapshotId.getOrElse(0L))
          records += e.file.recordCountOrZero
          bytes += e.file.fileSizeInBytes
        } else pruned += 1
      }
    }
    PlannedPart(tasks.result(), pruned, records, bytes)
  }
}
