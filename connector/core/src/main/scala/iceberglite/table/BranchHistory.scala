package iceberglite.table

import iceberglite.spec.IcebergError.ValidationFailed
import iceberglite.spec._
import iceberglite.tree.{MetadataPool, MetadataTree, PartFilter, SnapshotFiles, TreeTable}

/** A file that a commit added or removed, and that commit. */
final private[table] case class FileChange(snapshot: Snapshot, entry: ManifestEntry) {

  /** Compaction, which takes no row away and brings none (spec: "Snapshots", `replace`). */
  def isRewrite: Boolean = snapshot.operation.contains(Operation.Replace.name)

  def added: Boolean = entry.status == EntryStatus.Added
  def removed: Boolean = entry.status == EntryStatus.Deleted
  def isData: Boolean = entry.file.content == Content.Data
}

/**
 * The branch that a commit is going to follow: the files at its head, and what others did to it.
 *
 * @param parent the head
 */
final private[table] class BranchHistory(base: TableMetadata, parent: Option[Snapshot], context: CommitContext) {
  private val table = TreeTable(context.table, context.io, base)
  private val line = parent.fold(Vector.empty[Snapshot])(base.ancestors(_).toVector)

  /**
   * The commits since a snapshot, newest first; with none, all there are.
   *
   * @throws ValidationFailed the branch's history does not go back to it
   */
  def since(snapshotId: Option[Long]): Vector[Snapshot] = {
    snapshotId.filterNot(id => line.exists(_.snapshotId == id)).foreach { id =>
      throw ValidationFailed(
        s"Cannot tell what happened to ${context.table} since snapshot $id: it is not in the branch's history. " +
          "Run the statement again",
        byOthers = true
      )
    }
    line.takeWhile(s => !snapshotId.contains(s.snapshotId))
  }

  /** The same without the snapshots that the transaction itself has added so far. */
  def concurrent(snapshotId: Option[Long]): Vector[Snapshot] =
    since(snapshotId).filterNot(_.summary.get(CommitContext.CommitIdKey).contains(context.commitId))

  /**
   * The files that the commits added and removed.
   *
   * @param where limits the parts of the snapshots' trees that are read
   */
  def changes(snapshots: Vector[Snapshot], where: PartFilter): Vector[FileChange] =
    MetadataPool.map(snapshots)(s => filesOf(s).changes(where).map(FileChange(s, _)).toVector).flatten

  /** The partition specs that live files at the head may have. */
  def specs(content: ManifestContent): Set[Int] = parent.toVector.flatMap(filesOf(_).parts)
    .filter(p => p.content == content && p.hasLiveFiles).map(_.specId).toSet

  /** The wanted live entries at the head, of the parts that may list such. */
  def live(content: ManifestContent, where: PartFilter)(wanted: ManifestEntry => Boolean): Vector[ManifestEntry] =
    liveAt(parent, content, where)(wanted)

  /** The wanted live entries at an earlier snapshot. */
  def liveAt(snapshot: Option[Snapshot], content: ManifestContent, where: PartFilter)(
      wanted: ManifestEntry => Boolean
  ): Vector[ManifestEntry] = snapshot.toVector.flatMap { s =>
    val files = filesOf(s)
    val parts = files.parts.filter(p => p.content == content && p.hasLiveFiles && where.mightMatch(p))
    MetadataPool.map(parts)(files.entries(_).filter(e => e.isLive && wanted(e)).toVector).flatten
  }

  private def filesOf(snapshot: Snapshot): SnapshotFiles = MetadataTree.at(snapshot, table)
}
