package iceberglite.scan

import iceberglite.spec.expr.{Bind, Expression}
import iceberglite.spec.metadata.Snapshot
import iceberglite.tree.{ManifestCache, MetadataPool, TreeTable}
import iceberglite.scan.deletes.{DeleteFile, DeleteIndex}

/**
 * Plans a changelog: the rows that each commit in a range of snapshots inserted and deleted. Rows that a commit copied
 * unchanged to a new file appear both as deleted and as inserted. Commits that do not change rows (operation `replace`)
 * are omitted and have no ordinal.
 *
 * @param table the table, with the schema that the filter's columns refer to
 * @param filter a filter on the table's columns, bound to the table's schema or unbound
 * @param includes returns whether the changelog includes a change; called for the insertions and for the deletions of
 *   each commit
 * @param cache cache of decoded manifests
 */
final case class ChangelogScan(
    table: TreeTable,
    range: SnapshotRange,
    filter: Expression,
    includes: CommitChange => Boolean,
    caseSensitive: Boolean,
    cache: ManifestCache
) {

  /**
   * Returns the files that may contain changed rows that match the filter, ordered by commit, oldest first.
   *
   * @throws iceberglite.spec.IcebergError.NotFound if the filter refers to a column that does not exist
   * @throws iceberglite.spec.IcebergError.InvalidMetadata if a delete file that applies to one of the files violates
   *   the specification
   */
  def plan(): ScanPlan = {
    val bound = Bind(filter, table.schema, caseSensitive)
    val files = new SnapshotChanges(table, bound, cache)
    val commits = range.snapshots.filterNot(SnapshotRange.isRewrite).zipWithIndex
      .map { case (snapshot, ordinal) => new CommitChanges(files, snapshot, ordinal, includes) }.filter(_.isIncluded)
    val tasks = MetadataPool.map(commits)(_.tasks).flatten
    val all = PlannedPart(tasks, commits.map(_.pruned).sum, records(tasks), tasks.iterator.map(_.length).sum)
    val report = IncrementalScan.report(table, range, commits.map(_.commit), all)
    ScanPlan(tasks, bound, report.copy(deleteFiles = deleteFiles(tasks)))
  }

  private def records(tasks: Vector[FileScanTask]): Long = tasks.iterator.map(_.liveRecords).sum

  private def deleteFiles(tasks: Vector[FileScanTask]): Long = {
    val all = tasks.iterator.flatMap { t =>
      t.deletes.iterator ++ t.change.flatMap(_.deletesOfChangedRows).iterator.flatten
    }
    all.map(_.location).toSet.size.toLong
  }
}

/** Finds the changed rows of a single commit. */
final private class CommitChanges(
    files: SnapshotChanges,
    snapshot: Snapshot,
    ordinal: Int,
    includes: CommitChange => Boolean
) {
  private val inserts = CommitChange(ChangeType.Insert, ordinal, snapshot.snapshotId)
  private val deletes = CommitChange(ChangeType.Delete, ordinal, snapshot.snapshotId)

  def isIncluded: Boolean = includes(inserts) || includes(deletes)

  lazy val commit: SnapshotChanges#Commit = files.of(snapshot)

  def pruned: Int = commit.added.pruned + commit.removed.pruned

  def tasks: Vector[FileScanTask] = {
    val (added, removed) = (commit.added.tasks, commit.removed.tasks)
    val oldest = if (commit.changesDeletes) 0L
    else (added ++ removed).map(_.dataSequenceNumber).reduceOption(_ min _)
      .getOrElse(Long.MaxValue)
    val commitDeletes = commit.deletesFor(oldest)
    val (before, after) = (files.index(commitDeletes.before), files.index(commitDeletes.after))
    val deleted = FileScanTask.withDeletes(removed, before).map(_.copy(change = Some(deletes)))
    val inserted = FileScanTask.withDeletes(added, after).map(_.copy(change = Some(inserts)))
    val kept =
      if (commitDeletes.isChanged) affectedFiles(commitDeletes).flatMap(changes(_, before, after)) else Vector.empty
    (deleted ++ kept ++ inserted).filter(_.change.exists(includes))
  }

  /** Returns the files that exist before and after the commit, and to which an added or removed delete file applies. */
  private def affectedFiles(commitDeletes: SnapshotDeletes): Vector[FileScanTask] = {
    val (addedIndex, removedIndex) = (files.index(commitDeletes.added), files.index(commitDeletes.removed))
    def applies(deletes: DeleteIndex, task: FileScanTask): Boolean =
      deletes.lookup(task.file, task.dataSequenceNumber).nonEmpty
    commit.keptFiles(commitDeletes.dataFiles).filter(t => applies(addedIndex, t) || applies(removedIndex, t))
  }

  /**
   * Returns the changes to a file that exists before and after the commit. The commit deleted a row if an added delete
   * file applies to the row and no earlier delete file did. The rows of a removed delete file are inserted again unless
   * other deletes apply to them. Usually other deletes apply, because commits replace a deletion vector with a larger
   * one.
   */
  private def changes(file: FileScanTask, before: DeleteIndex, after: DeleteIndex): Vector[FileScanTask] = {
    def withDeletes(index: DeleteIndex): FileScanTask = FileScanTask.withDeletes(Vector(file), index).head
    val (fileBefore, fileAfter) = (withDeletes(before), withDeletes(after))
    val (added, removed) =
      (difference(fileAfter.deletes, fileBefore.deletes), difference(fileBefore.deletes, fileAfter.deletes))
    def changed(task: FileScanTask, change: CommitChange, deleteFiles: Vector[DeleteFile]): Option[FileScanTask] =
      if (deleteFiles.isEmpty) None
      else Some(task.copy(change = Some(change.copy(deletesOfChangedRows = Some(deleteFiles)))))
    (changed(fileBefore, deletes, added) ++ changed(fileAfter, inserts, removed)).toVector
  }

  private def difference(all: Vector[DeleteFile], others: Vector[DeleteFile]): Vector[DeleteFile] = {
    val otherLocations = others.map(_.location).toSet
    all.filterNot(d => otherLocations(d.location))
  }
}
