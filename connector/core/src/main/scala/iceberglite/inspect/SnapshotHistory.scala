package iceberglite.inspect

import iceberglite.spec.metadata.{Snapshot, SnapshotRef, TableMetadata}

/**
 * A snapshot with its role in the history of its table.
 *
 * @param isCurrentAncestor whether the snapshot is the current one or an ancestor of it
 * @param branches the names of the branches whose head is the snapshot, in alphabetical order
 * @param tags the names of the tags of the snapshot, in alphabetical order
 */
final case class HistoryEntry(
    snapshot: Snapshot,
    isCurrentAncestor: Boolean,
    branches: Vector[String],
    tags: Vector[String]
) {

  /**
   * The engine that committed the snapshot, with its version; absent if the snapshot summary does not name the engine.
   */
  def engine: Option[String] = snapshot.summary.get("engine-name").map { name =>
    snapshot.summary.get("engine-version").fold(name)(version => s"$name $version")
  }
}

/** The snapshots in the metadata of a table, regardless of their branch. */
object SnapshotHistory {

  /** Returns the entries, newest first. @param limit maximum number of entries; absent for all */
  def of(table: TableMetadata, limit: Option[Int]): Vector[HistoryEntry] = {
    val ancestors = table.currentSnapshot.fold(Set.empty[Long])(table.ancestors(_).map(_.snapshotId).toSet)
    val (branches, tags) = table.refs.toVector.sortBy(_._1).partition(_._2.isInstanceOf[SnapshotRef.Branch])
    def names(refs: Vector[(String, SnapshotRef)]) =
      refs.groupBy(_._2.snapshotId).map { case (id, named) => id -> named.map(_._1) }
    val (branchesById, tagsById) = (names(branches), names(tags))
    // In format version 1, all sequence numbers are 0, and the metadata lists snapshots in the order of their commits.
    val newestFirst =
      table.snapshots.zipWithIndex.sortBy { case (s, index) => (s.timestampMs, s.sequenceNumber, index) }.reverse
    newestFirst.take(limit.getOrElse(Int.MaxValue)).map { case (snapshot, _) =>
      val id = snapshot.snapshotId
      HistoryEntry(
        snapshot,
        ancestors(id),
        branchesById.getOrElse(id, Vector.empty),
        tagsById.getOrElse(id, Vector.empty)
      )
    }
  }
}
