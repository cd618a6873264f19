package iceberglite.tree.root

import iceberglite.puffin.DeletionVector
import iceberglite.tree.MetadataPool

/**
 * The files that a snapshot removed by removing whole leaf manifests: the entries of the leaves in the root have the
 * status `deleted`. The proposal of version 4 describes such roots ("change detection", scenarios 1 and 3). Other
 * writers may write them; [[RootWriter]] writes deletion vectors instead.
 */
final private[root] class RemovedLeaves(files: RootFiles, pool: MetadataPool) {
  private val snapshotId = files.snapshot.snapshotId

  /**
   * The keys of the files that the parts which the snapshot wrote list with any status. If a removed leaf also lists
   * such a file, the other part determines whether the file was carried over or removed.
   */
  private lazy val listedAgain: Set[String] = {
    val written = files.leaves.filter(_.leaf.version.snapshotId.contains(snapshotId))
    val inLeaves = pool.map(written)(leaf => files.allEntries(leaf).map(e => InlinePart.key(e)).toVector).flatten
    inLeaves.toSet ++ files.root.filter(_.isFile).map(e => InlinePart.key(e))
  }

  /** The removed files, in one part for each removed leaf. */
  def parts: Vector[RemovedPart] = pool.map(files.removedLeaves)(leaf =>
    new RemovedPart(leaf, removedFrom(leaf).toBytes, snapshotId)
  )

  private def removedFrom(leaf: LeafPart): DeletionVector = {
    val isRemoved = removedPositions(leaf)
    val positions = files.allEntries(leaf).zipWithIndex.collect {
      case (e, i) if e.isLive && isRemoved(i.toLong) && !listedAgain(InlinePart.key(e)) => i.toLong
    }
    DeletionVector.of(positions.toSeq: _*)
  }

  /**
   * Returns whether the snapshot removed the entry at a position: if it added a deletion vector of the leaf, the
   * entries in this vector; otherwise, all entries except those that the vectors of the parent snapshot had removed.
   */
  private def removedPositions(leaf: LeafPart): Long => Boolean = files.vectors.get(leaf.path) match {
    case Some(v) if !v.changed.isEmpty => v.changed.isDeleted
    case Some(v) =>
      val before = v.before.union(v.positions)
      position => !before.isDeleted(position)
    case None => _ => true
  }
}
