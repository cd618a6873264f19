package iceberglite.scan

import iceberglite.spec.Snapshot
import iceberglite.spec.expr.{Bind, Expression}
import iceberglite.tree.{ManifestCache, MetadataPool, TreeTable}

/**
 * The rows that each commit of a range of snapshots inserted and deleted: for every commit, the rows before it without
 * those it deleted and with those it inserted are the rows after it. Rows that a commit wrote again as they were stand
 * there twice, deleted and inserted; commits that only rearrange rows (`replace`) do not show, and do not count.
 *
 * @param table with the schema of the filter's columns
 * @param filter bound to the table's schema, or to be bound to it
 * @param wanted which changes are asked for
 * @param cache where decoded manifests are kept
 */
final case class ChangelogScan(
    table: TreeTable,
    range: SnapshotRange,
    filter: Expression,
    wanted: RowChange => Boolean,
    caseSensitive: Boolean,
    cache: ManifestCache
) {

  /**
   * The files that may hold changed rows that match, by commit, oldest first.
   *
   * @throws iceberglite.spec.IcebergError.NotFound the filter names a column that is not there
   * @throws iceberglite.spec.IcebergError.InvalidMetadata delete files that apply break the specification
   */
  def plan(): ScanPlan = {
    val bound = Bind(filter, table.schema, caseSensitive)
    val files = new SnapshotChanges(table, bound, cache)
    val commits = range.snapshots.filterNot(SnapshotRange.isRewrite).zipWithIndex
      .map { case (snapshot, ordinal) => new CommitChanges(files, snapshot, ordinal, wanted) }.filter(_.areWanted)
    val tasks = MetadataPool.map(commits)(_.tasks).flatten
    val all = PlannedPart(tasks, commits.map(_.pruned).sum, records(tasks), tasks.iterator.map(_.length).sum)
    val report = IncrementalScan.report(table, range, commits.map(_.commit), all)
    ScanPlan(tasks, bound, report.copy(deleteFiles = deleteFiles(tasks)))
  }

  private def records(tasks: Vector[FileScanTask]): Long = tasks.iterator.map(_.liveRecords).sum

  private def deleteFiles(tasks: Vector[FileScanTask]): Long = {
    val all = tasks.iterator.flatMap(t => t.deletes.iterator ++ t.change.flatMap(_.among).iterator.flatten)
    all.map(_.location).toSet.size.toLong
  }
}

/** The changes of one commit. */
final private class CommitChanges(
    files: SnapshotChanges,
    snapshot: Snapshot,
    ordinal: Int,
    wanted: RowChange => Boolean
) {
  private val inserts = RowChange(ChangeType.Insert, ordinal, snapshot.snapshotId)
  private val deletes = RowChange(ChangeType.Delete, ordinal, snapshot.snapshotId)

  def areWanted: Boolean = wanted(inserts) || wanted(deletes)

  lazy val commit: SnapshotChanges#Commit = files.of(snapshot)

  def pruned: Int = commit.added.pruned + commit.gone.pruned

  def tasks: Vector[FileScanTask] = {
    val (added, removed) = (commit.added.tasks, commit.gone.tasks)
    val oldest = if (commit.changesDeletes) 0L
    else (added ++ removed).map(_.dataSequenceNumber).reduceOption(_ min _)
      .getOrElse(Long.MaxValue)
    val around = commit.deletesFor(oldest)
    val (before, after) = (files.index(around.before), files.index(around.after))
    val gone = before.applied(removed).map(_.copy(change = Some(deletes)))
    val here = after.applied(added).map(_.copy(change = Some(inserts)))
    val kept = if (around.isChanged) touched(around).flatMap(changes(_, before, after)) else Vector.empty
    (gone ++ kept ++ here).filter(_.change.exists(wanted))
  }

  /** The files that stay, and that deletes apply to that came or went. */
  private def touched(around: SnapshotDeletes): Vector[FileScanTask] = {
    val (came, went) = (files.index(around.added), files.index(around.removed))
    def applies(deletes: DeleteIndex, task: FileScanTask): Boolean = deletes.applied(Vector(task)).head.deletes.nonEmpty
    commit.kept(around.dataFiles).filter(t => applies(came, t) || applies(went, t))
  }

  /**
   * Rows of a file that stays are deleted if a delete file takes them that did not before. Where a delete file is gone,
   * rows are back unless others take them: mostly those are all that it had, as one vector replaces another.
   */
  private def changes(file: FileScanTask, before: DeleteIndex, after: DeleteIndex): Vector[FileScanTask] = {
    val (was, is) = (before.applied(Vector(file)).head, after.applied(Vector(file)).head)
    val (came, went) = (minus(is.deletes, was.deletes), minus(was.deletes, is.deletes))
    def changed(task: FileScanTask, change: RowChange, among: Vector[DeleteFile]): Option[FileScanTask] =
      if (among.isEmpty) None else Some(task.copy(change = Some(change.copy(among = Some(among)))))
    (changed(was, deletes, came) ++ changed(is, inserts, went)).toVector
  }

  private def minus(all: Vector[DeleteFile], others: Vector[DeleteFile]): Vector[DeleteFile] = {
    val known = others.map(_.location).toSet
    all.filterNot(d => known(d.location))
  }
}
