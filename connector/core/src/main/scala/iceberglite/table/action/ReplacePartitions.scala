package iceberglite.table.action

import iceberglite.spec.IcebergError.{ChangeScope, ConcurrentChange}
import iceberglite.spec.file.ContentFile
import iceberglite.spec.metadata.{Operation, Snapshot, SummaryKey, TableMetadata}
import iceberglite.table.{CommitContext, SnapshotTarget}
import iceberglite.table.conflict.{BranchHistory, CommittedFileChange, Isolation}
import iceberglite.tree.{FileChanges, WrittenTree}

/**
 * Replaces all files of the partitions that contain new files (INSERT OVERWRITE with `partitionOverwriteMode=dynamic`).
 * If a new file has an unpartitioned spec, all files of the table are replaced. Otherwise, files of other partition
 * specs are not replaced, as in Apache Iceberg. If there are no new files, nothing is committed.
 */
final class ReplacePartitions(
    added: Vector[ContentFile],
    isolation: Option[Isolation] = None,
    to: SnapshotTarget = SnapshotTarget.Main
) extends SnapshotAction(to) {
  override def writtenFiles: Vector[ContentFile] = added

  override protected def changes(base: TableMetadata, parent: Option[Snapshot], context: CommitContext): FileChanges = {
    val partitions = new ReplacedPartitions(added, base)
    isolation.foreach { i =>
      i.check(base, parent, context, partitions)
      if (!partitions.isWholeTable)
        checkNotMoved(new BranchHistory(base, parent, context), i.since, context, partitions)
    }
    FileChanges(added, Removal.of(partitions))
  }

  /**
   * Fails if a concurrent compaction moved rows between the replaced partitions and files of another partition spec.
   * Such a compaction changes which rows the write replaces; other compactions do not conflict.
   */
  private def checkNotMoved(
      history: BranchHistory,
      since: Option[Long],
      context: CommitContext,
      partitions: ReplacedPartitions
  ): Unit = {
    val specs = added.map(_.specId).toSet
    def hasOtherSpec(change: CommittedFileChange): Boolean = !specs(change.entry.file.specId)
    def isReplaced(change: CommittedFileChange): Boolean = partitions.contains(change.entry)
    val rewrites = history.concurrentCommits(since).filter(_.operation.contains(Operation.Replace.name))
    val changes = history.changes(rewrites, p => !specs(p.specId) || partitions.mightMatch(p)).filter(_.isData)
    changes.groupBy(_.snapshot).foreach { case (snapshot, moves) =>
      def rejectIf(isSource: CommittedFileChange => Boolean, isTarget: CommittedFileChange => Boolean): Unit = for {
        from <- moves.find(c => c.isRemoved && isSource(c))
        to <- moves.find(c => c.isAdded && isTarget(c))
      } throw ConcurrentChange(
        s"Cannot commit to ${context.table}: snapshot ${snapshot.snapshotId} compacted rows ${partitions.description}" +
          s" across partition specs, from ${from.entry.file.path} to ${to.entry.file.path}. Run the statement again",
        ChangeScope.FilesOnly
      )
      rejectIf(isReplaced, hasOtherSpec)
      rejectIf(hasOtherSpec, isReplaced)
    }
  }

  override protected def operation(tree: WrittenTree): Operation = Operation.Overwrite

  override protected def summary: Map[String, String] = Map(SummaryKey.ReplacePartitions -> "true")

  override protected def commitsEmpty: Boolean = false
}
