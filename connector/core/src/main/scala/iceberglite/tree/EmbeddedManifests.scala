package iceberglite.tree

import iceberglite.io.{FileIO, Manifests}
import iceberglite.spec.{EntryStatus, ManifestContent, ManifestEntry, ManifestFile, Snapshot}

/**
 * The manifests of a version 1 snapshot that names them in table metadata (spec: "Snapshots", `manifests`). What a
 * manifest list would say of them is taken from the manifests themselves.
 */
private[tree] object EmbeddedManifests {

  /** @param entries reads the rows of a manifest */
  def read(
      io: FileIO,
      path: String,
      snapshot: Snapshot,
      entries: ManifestFile => Iterator[ManifestEntry]
  ): ManifestFile = {
    val bare = ManifestFile(
      path = path,
      length = io.info(path).fold(0L)(_.length),
      partitionSpecId = Manifests.partitionSpecId(io, path),
      content = ManifestContent.Data,
      sequenceNumber = 0L,
      minSequenceNumber = 0L,
      addedSnapshotId = snapshot.snapshotId,
      addedFilesCount = None,
      existingFilesCount = None,
      deletedFilesCount = None,
      addedRowsCount = None,
      existingRowsCount = None,
      deletedRowsCount = None,
      partitions = None
    )
    val rows = entries(bare).toVector
    // A manifest adds and deletes in its own snapshot only; one of existing files alone does not say which that is.
    val own = rows.find(_.status != EntryStatus.Existing).flatMap(_.snapshotId).getOrElse(bare.addedSnapshotId)
    ManifestCounts.counted(bare.copy(addedSnapshotId = own), rows.iterator)
  }
}
