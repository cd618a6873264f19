package iceberglite.table

import iceberglite.spec.IcebergError.ValidationFailed
import iceberglite.spec._
import iceberglite.tree.{InParallel, MetadataTree}

/** One entry of a manifest that a commit wrote, and that commit. */
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
final private[table] class History(base: TableMetadata, parent: Option[Snapshot], context: CommitContext) {
  private val tree = MetadataTree.of(context.io, base)
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
   * The files that the commits added and removed, of the manifests that may list such.
   *
   * @param mightMatch asked of manifests
   */
  def changes(snapshots: Vector[Snapshot], mightMatch: ManifestFile => Boolean): Vector[FileChange] =
    InParallel.map(snapshots) { snapshot =>
      for {
        manifest <- tree.manifests(snapshot)
        if manifest.addedSnapshotId == snapshot.snapshotId && mightMatch(manifest)
        entry <- tree.entries(manifest)
        if entry.status != EntryStatus.Existing && entry.snapshotId.contains(snapshot.snapshotId)
      } yield FileChange(snapshot, entry)
    }.flatten

  /** The manifests at the head that list live files. */
  def manifests(content: ManifestContent): Vector[ManifestFile] = manifestsAt(parent, content)

  private def manifestsAt(snapshot: Option[Snapshot], content: ManifestContent): Vector[ManifestFile] =
    snapshot.toVector.flatMap(tree.manifests).filter(m => m.content == content && m.hasLiveFiles)

  /** The live entries at the head that are wanted, of the manifests that may list such. */
  def live(content: ManifestContent, mightMatch: ManifestFile => Boolean)(
      wanted: ManifestEntry => Boolean
  ): Vector[ManifestEntry] = liveAt(parent, content, mightMatch)(wanted)

  /** The same at an earlier snapshot. */
  def liveAt(snapshot: Option[Snapshot], content: ManifestContent, mightMatch: ManifestFile => Boolean)(
      wanted: ManifestEntry => Boolean
  ): Vector[ManifestEntry] = {
    InParallel.map(manifestsAt(snapshot, content).filter(mightMatch))(
      tree.entries(_).filter(e => e.isLive && wanted(e)).toVector
    ).flatten
  }
}
