package iceberglite.tree.manifestlist

import iceberglite.spec.file.{EntryStatus, ManifestContent, ManifestFile}
import iceberglite.spec.metadata.Snapshot
import iceberglite.tree.TreeTable

/**
 * The manifests of a version 1 snapshot that lists them in table metadata (spec: "Snapshots", `manifests`). The values
 * that a manifest list would have are computed from the manifests themselves.
 */
private[manifestlist] object EmbeddedManifests {

  def read(path: String, snapshot: Snapshot, table: TreeTable): ManifestFile = {
    val io = table.io
    val withoutCounts = ManifestFile(
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
    val rows = new ManifestPart(withoutCounts, table.specs).entries(io).toVector
    // A manifest records added and deleted files only for its own snapshot. For a manifest with only existing files,
    // that snapshot is unknown.
    val snapshotId =
      rows.find(_.status != EntryStatus.Existing).flatMap(_.snapshotId).getOrElse(withoutCounts.addedSnapshotId)
    ManifestCounts.withCounts(withoutCounts.copy(addedSnapshotId = snapshotId), rows.iterator)
  }
}
