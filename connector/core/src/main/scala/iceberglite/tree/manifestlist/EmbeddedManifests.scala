package iceberglite.tree.manifestlist

import iceberglite.spec.file.{EntryStatus, ManifestContent, ManifestFile}
import iceberglite.spec.metadata.Snapshot
import iceberglite.tree.TreeTable

/**
 * Reads the manifests of version 1 snapshots without a manifest list (spec: "Snapshots", `manifests`). The counts and
 * the partition spec id, which a manifest list would contain, are read from the manifests themselves. The manifests
 * have no partition summaries.
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
    val entries = new ManifestPart(withoutCounts, table.specs).entries(io).toVector
    // Added and deleted entries have the id of the snapshot that added the manifest. If all entries have the status
    // `existing`, this snapshot is unknown, and the id of the given snapshot is used.
    val snapshotId =
      entries.find(_.status != EntryStatus.Existing).flatMap(_.snapshotId).getOrElse(withoutCounts.addedSnapshotId)
    ManifestCounts.withCounts(withoutCounts.copy(addedSnapshotId = snapshotId), entries.iterator)
  }
}
