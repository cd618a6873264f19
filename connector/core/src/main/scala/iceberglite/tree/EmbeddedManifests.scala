package iceberglite.tree

import iceberglite.io.Manifests
import iceberglite.spec.{EntryStatus, ManifestContent, ManifestFile, Snapshot}

/**
 * The manifests of a version 1 snapshot that names them in table metadata (spec: "Snapshots", `manifests`). What a
 * manifest list would say of them is taken from the manifests themselves.
 */
private[tree] object EmbeddedManifests {

  def read(path: String, snapshot: Snapshot, table: TreeTable): ManifestFile = {
    val io = table.io
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
    val rows = new ManifestPart(bare, table.specs).entries(io).toVector
    // A manifest adds and deletes in its own snapshot only; one of existing files alone does not say which that is.
    val own = rows.find(_.status != EntryStatus.Existing).flatMap(_.snapshotId).getOrElse(bare.addedSnapshotId)
    ManifestCounts.counted(bare.copy(addedSnapshotId = own), rows.iterator)
  }
}
