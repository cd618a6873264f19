package iceberglite.tree

import iceberglite.spec.{ManifestEntry, ManifestFile}
import iceberglite.spec.EntryStatus.{Added, Deleted, Existing}

/**
 * The counts that are optional in a version 1 manifest list and required in later versions (spec: "Manifest Lists").
 */
private[tree] object ManifestCounts {
  def areIn(m: ManifestFile): Boolean =
    Seq(m.addedFilesCount, m.existingFilesCount, m.deletedFilesCount).forall(_.isDefined) &&
      Seq(m.addedRowsCount, m.existingRowsCount, m.deletedRowsCount).forall(_.isDefined)

  def counted(manifest: ManifestFile, entries: Iterator[ManifestEntry]): ManifestFile = {
    val files = new Array[Int](3)
    val rows = new Array[Long](3)
    entries.foreach { e =>
      files(e.status.code) += 1
      rows(e.status.code) += e.file.knownRecords
    }
    manifest.copy(
      addedFilesCount = Some(files(Added.code)),
      existingFilesCount = Some(files(Existing.code)),
      deletedFilesCount = Some(files(Deleted.code)),
      addedRowsCount = Some(rows(Added.code)),
      existingRowsCount = Some(rows(Existing.code)),
      deletedRowsCount = Some(rows(Deleted.code))
    )
  }
}
