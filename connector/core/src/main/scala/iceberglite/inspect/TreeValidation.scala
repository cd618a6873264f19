package iceberglite.inspect

import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.metadata.Snapshot
import iceberglite.table.Table
import iceberglite.tree.{ManifestCache, MetadataTree, TreeViolation}

/** Checks the metadata trees of snapshots against the rules of their layout. */
object TreeValidation {

  /**
   * Checks the tree of a snapshot. All metadata files of the tree are read from storage, and not from the cache.
   *
   * @return the violated rules; empty if the tree is valid
   * @throws InvalidArgument if the snapshot has a manifest list, for which there are no such rules
   */
  def of(table: Table, snapshot: Snapshot): Vector[TreeViolation] = {
    val tree = table.tree()
    val parent = snapshot.parentSnapshotId.flatMap(table.metadata.findSnapshot)
    MetadataTree.at(snapshot, tree, ManifestCache.Disabled)
      .violations(parent.map(MetadataTree.at(_, tree, ManifestCache.Disabled)))
      .getOrElse(throw InvalidArgument(
        "snapshot",
        snapshot.snapshotId.toString,
        s"Only trees of format version 4 can be checked, but this snapshot of ${table.name} has a manifest list"
      ))
  }
}
