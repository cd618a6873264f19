package iceberglite.table.action

import scala.annotation.tailrec

import iceberglite.spec.IcebergError.{NotFound, ValidationFailed}
import iceberglite.spec.ObjectKind
import iceberglite.spec.file.{Content, ContentFile, EntryStatus, ManifestEntry}
import iceberglite.spec.metadata.{Operation, Snapshot, SummaryKey, TableMetadata}
import iceberglite.table.{Action, _}
import iceberglite.tree.{FileChanges, FileSelector, MetadataTree, PartFilter, FilePartitions, WrittenTree}
import iceberglite.table.conflict.BranchHistory

/**
 * Applies the changes of a snapshot to a branch. The snapshot is staged or belongs to another branch. If the snapshot's
 * parent is the head of the branch, the branch is fast-forwarded. If not, the changes are applied again in a new
 * snapshot, which is possible for appends, and for dynamic overwrites whose partitions have not changed since. In this
 * case, the branch must not already contain the changes of the snapshot, or changes with the same write-audit-publish
 * id.
 */
final class CherryPick(snapshotId: Long, to: SnapshotTarget.Branch = SnapshotTarget.Main) extends Action {
  private val reapply = new CherryPick.ReapplySnapshot(snapshotId, to)

  override def changeFor(base: TableMetadata, context: CommitContext): Change = {
    val source = base.snapshot(snapshotId)
    val head = to.head(base)
    if (source.parentSnapshotId == head.map(_.snapshotId)) {
      // An earlier attempt with another head may have written files that are not needed for a fast-forward.
      reapply.abandoned(context)
      MoveBranch(base, to.name, snapshotId)
    } else {
      CherryPick.requireNotPicked(base, source, head, context)
      reapply.changeFor(base, context)
    }
  }

  override def committed(metadata: TableMetadata, context: CommitContext): Unit = reapply.committed(metadata, context)
  override def abandoned(context: CommitContext): Unit = reapply.abandoned(context)
  override def writtenFiles: Vector[ContentFile] = Vector.empty
}

/** Cherry-picks the snapshot that was staged under a write-audit-publish id. */
final class PublishChanges(wapId: String, to: SnapshotTarget.Branch = SnapshotTarget.Main) extends Action {
  private var picked: Option[CherryPick] = None

  override def changeFor(base: TableMetadata, context: CommitContext): Change = {
    val pick = picked.getOrElse(new CherryPick(staged(base, context).snapshotId, to))
    picked = Some(pick)
    pick.changeFor(base, context)
  }

  private def staged(base: TableMetadata, context: CommitContext): Snapshot =
    base.snapshots.filter(_.summary.get(SummaryKey.WapId).contains(wapId)) match {
      case Vector(snapshot) => snapshot
      case Vector() =>
        throw NotFound(ObjectKind.WapId, wapId, s"No snapshot of ${context.table} was written with spark.wap.id=$wapId")
      case several => throw ValidationFailed(
          s"Cannot publish the WAP id $wapId: the snapshots ${several.map(_.snapshotId).mkString(", ")} of " +
            s"${context.table} were written with this id, and it is unclear which one to publish. Cherry-pick one " +
            "of them by its snapshot id, and use another WAP id for each write"
        )
    }

  override def committed(metadata: TableMetadata, context: CommitContext): Unit =
    picked.foreach(_.committed(metadata, context))
  override def abandoned(context: CommitContext): Unit = picked.foreach(_.abandoned(context))
  override def writtenFiles: Vector[ContentFile] = Vector.empty
}

private[action] object CherryPick {

  /** @throws ValidationFailed if the branch already contains the snapshot, its changes, or changes with its WAP id */
  private def requireNotPicked(
      base: TableMetadata,
      source: Snapshot,
      head: Option[Snapshot],
      context: CommitContext
  ): Unit = {
    def refuse(reason: String): Nothing =
      throw ValidationFailed(s"Cannot cherry-pick snapshot ${source.snapshotId} of ${context.table}: $reason")
    val wapId = source.summary.get(SummaryKey.WapId)
    head.iterator.flatMap(base.ancestors).foreach { s =>
      def hasEntry(key: String, value: String): Boolean = s.summary.get(key).contains(value)
      if (s.snapshotId == source.snapshotId) refuse("it is already an ancestor of the branch's head")
      if (hasEntry(SummaryKey.SourceSnapshotId, source.snapshotId.toString)) {
        refuse(s"it was already picked as snapshot ${s.snapshotId}")
      }
      if (origin(s, base) == origin(source, base)) refuse(s"snapshot ${s.snapshotId} already contains its changes")
      wapId.filter(id => hasEntry(SummaryKey.WapId, id) || hasEntry(SummaryKey.PublishedWapId, id))
        .foreach(id => refuse(s"snapshot ${s.snapshotId} has already published the WAP id $id"))
    }
  }

  /**
   * Returns the id of the snapshot in which the changes of a snapshot were first committed. The source of a picked
   * snapshot may itself have been picked. The search stops if the sources form a cycle.
   */
  @tailrec
  private[action] def origin(snapshot: Snapshot, base: TableMetadata, seen: Set[Long] = Set.empty): Long = {
    val source = snapshot.count(SummaryKey.SourceSnapshotId)
    source.flatMap(base.findSnapshot) match {
      case Some(known) if !seen(known.snapshotId) => origin(known, base, seen + known.snapshotId)
      case _ => source.getOrElse(snapshot.snapshotId)
    }
  }

  /** Adds a new snapshot that applies the changes of the picked snapshot. */
  final private class ReapplySnapshot(snapshotId: Long, to: SnapshotTarget) extends SnapshotAction(to) {
    private var source: Option[Snapshot] = None

    override protected def changes(
        base: TableMetadata,
        parent: Option[Snapshot],
        context: CommitContext
    ): FileChanges = {
      val picked = base.snapshot(snapshotId)
      source = Some(picked)
      val replaces = picked.summary.get(SummaryKey.ReplacePartitions).exists(_.equalsIgnoreCase("true"))
      val entries = changesOf(picked, base, context)
      val added = entries.filter(_.status == EntryStatus.Added).map(_.file)
      if (picked.operation.contains(Operation.Append.name)) FileChanges(added)
      else if (picked.operation.contains(Operation.Overwrite.name) && replaces) {
        val history = new BranchHistory(base, parent, context)
        requireUnchanged(picked, new FilePartitions(added, base), history, context)
        val removed = entries.filter(e => e.status == EntryStatus.Deleted).map(_.file)
        NamedFiles.require(removed.filter(_.content == Content.Data), "cherry-pick", base, history, context)
        FileChanges(added, if (removed.isEmpty) FileSelector.NoFiles else new NamedFiles(removed, base))
      } else throw ValidationFailed(
        s"Cannot cherry-pick snapshot $snapshotId of ${context.table}: its parent is not the branch's head, and it " +
          "is neither an append nor a dynamic overwrite. Run the statement that created it again"
      )
    }

    private def changesOf(picked: Snapshot, base: TableMetadata, context: CommitContext): Vector[ManifestEntry] =
      MetadataTree.at(picked, context.tree(base)).changes(PartFilter.All).toVector

    /** Checks that no commit since the snapshot's parent added files to the partitions that the snapshot replaces. */
    private def requireUnchanged(
        picked: Snapshot,
        partitions: FilePartitions,
        history: BranchHistory,
        context: CommitContext
    ): Unit =
      history.changes(history.commitsSince(picked.parentSnapshotId), partitions)
        .find(c => c.isAdded && partitions.contains(c.entry.file)).foreach { c =>
          throw ValidationFailed(
            s"Cannot cherry-pick snapshot $snapshotId of ${context.table}: snapshot ${c.snapshot.snapshotId} added " +
              s"${c.entry.file.path} to a partition that it replaces. Run the statement that created it again"
          )
        }

    override protected def operation(tree: WrittenTree): Operation =
      if (source.exists(_.operation.contains(Operation.Append.name))) Operation.Append else Operation.Overwrite

    override protected def summary: Map[String, String] = {
      val picked = source.fold(Map.empty[String, String])(_.summary)
      Map(SummaryKey.SourceSnapshotId -> snapshotId.toString) ++
        picked.get(SummaryKey.WapId).map(SummaryKey.PublishedWapId -> _)
    }
  }
}
