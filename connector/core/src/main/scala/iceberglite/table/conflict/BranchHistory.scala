package iceberglite.table.conflict

import iceberglite.spec.IcebergError.ConcurrentChange
import iceberglite.spec.file.{Content, EntryStatus, ManifestContent, ManifestEntry}
import iceberglite.spec.metadata.{Operation, Snapshot, TableMetadata}
import iceberglite.tree.{MetadataTree, PartFilter, SnapshotFiles}
import iceberglite.table.CommitContext

/** A file that a commit added or removed, with the snapshot of the commit. */
final private[table] case class CommittedFileChange(snapshot: Snapshot, entry: ManifestEntry) {

  /**
   * Returns whether the commit is a rewrite such as a compaction, which neither adds nor removes rows (spec:
   * "Snapshots", `replace`).
   */
  def isRewrite: Boolean = snapshot.operation.contains(Operation.Replace.name)

  def isAdded: Boolean = entry.status == EntryStatus.Added
  def isRemoved: Boolean = entry.status == EntryStatus.Deleted
  def isData: Boolean = entry.file.content == Content.Data
}

/**
 * Provides the files at the head of the branch that a commit writes to, and the changes by concurrent commits.
 *
 * @param parent the head of the branch
 * @param own the ids of earlier snapshots of the branch that are not concurrent with the commit
 */
final private[table] class BranchHistory(
    base: TableMetadata,
    parent: Option[Snapshot],
    context: CommitContext,
    own: Set[Long] = Set.empty
) {
  private val table = context.tree(base)
  private val ancestry = parent.fold(Vector.empty[Snapshot])(base.ancestors(_).toVector)

  /**
   * Returns the snapshots of the branch that were committed after the given snapshot, newest first. If `snapshotId` is
   * absent, returns all snapshots of the branch.
   *
   * @throws ConcurrentChange if the snapshot is not in the branch's history, or if all snapshots are requested and some
   *   have expired
   */
  def commitsSince(snapshotId: Option[Long]): Vector[Snapshot] = {
    snapshotId.filterNot(id => ancestry.exists(_.snapshotId == id)).foreach { id =>
      throw ConcurrentChange(
        s"Cannot determine the changes to ${context.table} since snapshot $id, because it is not in the branch's " +
          "history. Run the statement again"
      )
    }
    if (snapshotId.isEmpty && ancestry.lastOption.exists(_.parentSnapshotId.isDefined)) throw ConcurrentChange(
      s"Cannot determine the changes to ${context.table} since the branch was empty, because snapshots of the branch " +
        "have expired. Run the statement again"
    )
    ancestry.takeWhile(s => !snapshotId.contains(s.snapshotId))
  }

  /** Returns the result of [[commitsSince]] without `own` and the snapshots that this transaction itself has added. */
  def concurrentCommits(snapshotId: Option[Long]): Vector[Snapshot] = commitsSince(snapshotId).filterNot { s =>
    own(s.snapshotId) || s.summary.get(CommitContext.CommitIdKey).contains(context.commitId)
  }

  /**
   * Returns the files that the commits added and removed.
   *
   * @param where limits which parts of the snapshots' metadata trees (manifests in format versions 1 to 3) are read
   */
  def changes(snapshots: Vector[Snapshot], where: PartFilter): Vector[CommittedFileChange] =
    table.pool.map(snapshots)(s => filesOf(s).changes(where).map(CommittedFileChange(s, _)).toVector).flatten

  /** Returns the ids of the partition specs of all parts with live files at the head. */
  def liveSpecIds(content: ManifestContent): Set[Int] = parent.toVector.flatMap(filesOf(_).parts)
    .filter(p => p.content == content && p.hasLiveFiles).map(_.specId).toSet

  /** Returns the live entries at the head that satisfy `predicate`. Parts that `where` rejects are not read. */
  def liveEntries(
      content: ManifestContent,
      where: PartFilter
  )(predicate: ManifestEntry => Boolean): Vector[ManifestEntry] =
    liveEntriesAt(parent, content, where)(predicate)

  /** Returns the live entries at a snapshot that satisfy `predicate`. Parts that `where` rejects are not read. */
  def liveEntriesAt(snapshot: Option[Snapshot], content: ManifestContent, where: PartFilter)(
      predicate: ManifestEntry => Boolean
  ): Vector[ManifestEntry] = snapshot.toVector.flatMap { s =>
    val files = filesOf(s)
    val parts = files.parts.filter(p => p.content == content && p.hasLiveFiles && where.mightMatch(p))
    table.pool.map(parts)(files.entries(_).filter(e => e.isLive && predicate(e)).toVector).flatten
  }

  private def filesOf(snapshot: Snapshot): SnapshotFiles = MetadataTree.at(snapshot, table)
}
