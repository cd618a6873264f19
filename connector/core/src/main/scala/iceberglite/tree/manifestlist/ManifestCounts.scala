package iceberglite.tree.manifestlist

import iceberglite.spec.file.{EntryStatus, FieldSummary, ManifestContent, ManifestEntry, ManifestFile}
import iceberglite.spec.file.EntryStatus.{Added, Deleted, Existing}

/** Counts the entries of a manifest by status. */
final private[tree] class ManifestCounts {
  private val files = Array.fill(EntryStatus.all.size)(0)
  private val rows = Array.fill(EntryStatus.all.size)(0L)

  /** The minimum data sequence number of the live entries that have an explicit number, and do not inherit one. */
  private var minSequenceNumber: Option[Long] = None

  def add(entry: ManifestEntry): Unit = {
    files(entry.status.code) += 1
    rows(entry.status.code) += entry.file.recordCountOrZero
    if (entry.isLive && entry.sequenceNumber.exists(n => minSequenceNumber.forall(_ > n))) {
      minSequenceNumber = entry.sequenceNumber
    }
  }

  /** Returns a manifest with these counts. The manifest has no sequence number yet, because it is not committed. */
  def manifest(
      path: String,
      length: Long,
      specId: Int,
      content: ManifestContent,
      snapshotId: Long,
      summaries: Vector[FieldSummary]
  ): ManifestFile = withCounts(ManifestFile(
    path,
    length,
    specId,
    content,
    sequenceNumber = Manifests.Unassigned,
    // If every live file inherits its sequence number, the minimum is the sequence number of the commit.
    minSequenceNumber = minSequenceNumber.getOrElse(Manifests.Unassigned),
    addedSnapshotId = snapshotId,
    addedFilesCount = None,
    existingFilesCount = None,
    deletedFilesCount = None,
    addedRowsCount = None,
    existingRowsCount = None,
    deletedRowsCount = None,
    partitions = Some(summaries)
  ))

  private def withCounts(manifest: ManifestFile): ManifestFile = manifest.copy(
    addedFilesCount = Some(files(Added.code)),
    existingFilesCount = Some(files(Existing.code)),
    deletedFilesCount = Some(files(Deleted.code)),
    addedRowsCount = Some(rows(Added.code)),
    existingRowsCount = Some(rows(Existing.code)),
    deletedRowsCount = Some(rows(Deleted.code))
  )
}

/** Adds missing counts to manifests, because version 1 manifest lists may omit the counts (spec: "Manifest Lists"). */
private[tree] object ManifestCounts {
  def hasCounts(m: ManifestFile): Boolean =
    Seq(m.addedFilesCount, m.existingFilesCount, m.deletedFilesCount).forall(_.isDefined) &&
      Seq(m.addedRowsCount, m.existingRowsCount, m.deletedRowsCount).forall(_.isDefined)

  def withCounts(manifest: ManifestFile, entries: Iterator[ManifestEntry]): ManifestFile = {
    val counts = new ManifestCounts
    entries.foreach(counts.add)
    counts.withCounts(manifest)
  }
}
