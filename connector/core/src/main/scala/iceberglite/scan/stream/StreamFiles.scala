package iceberglite.scan.stream

import iceberglite.scan.{ChangeType, ChangelogScan, FileScanTask, PartReader, RangeStart, CommitChange, SnapshotRange}
import iceberglite.scan.stream.StreamPosition._
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.spec.file.{EntryStatus, ManifestContent}
import iceberglite.spec.metadata.{Snapshot, SummaryKey}
import iceberglite.tree.{ManifestCache, MetadataPool, MetadataTree}

/**
 * Finds the files of a stream, and divides them into [[StreamStep]]s. The manifests of a commit are read when the files
 * of the commit are needed.
 */
final private[stream] class StreamFiles(state: StreamState, content: StreamContent, cache: ManifestCache) {
  private val table = state.table
  private val reader = PartReader.ofAllFiles(table)

  /** Returns the steps with the remaining files of a snapshot. @param skipped the number of files that were read */
  def rest(whole: WholeSnapshot, skipped: Long): Iterator[StreamStep] = {
    val snapshotId = whole.snapshot.snapshotId
    val files = content match {
      case _: StreamContent.Appends => whole.files(skipped)
      case StreamContent.Changes =>
        val inserted = Some(CommitChange(ChangeType.Insert, 0, snapshotId))
        whole.files(skipped).map(_.copy(change = inserted))
    }
    val commits = if (content == StreamContent.Changes) 1 else 0
    if (!files.hasNext) Iterator.single(StreamStep.Files(Vector.empty, After(snapshotId), commits))
    else files.zipWithIndex.map { case (file, i) =>
      if (files.hasNext) StreamStep.Files(Vector(file), InSnapshot(snapshotId, skipped + i + 1))
      else StreamStep.Files(Vector(file), After(snapshotId), commits)
    }
  }

  /** Returns the steps of commits, oldest first. Reads up to [[MetadataPool.Width]] commits in parallel. */
  def of(commits: Vector[Snapshot]): Iterator[StreamStep] = {
    val groups = Iterator.iterate((0, 1)) { case (start, size) =>
      (start + size, math.min(2 * size, MetadataPool.Width))
    }
    groups.takeWhile(_._1 < commits.size).flatMap { case (start, size) =>
      MetadataPool.map(commits.slice(start, start + size))(stepsOf(_, _ => false)).iterator.flatten
    }
  }

  /** Returns the steps with the remaining files of a commit. @param skipped the number of files that were read */
  def rest(commit: Snapshot, skipped: Long): Iterator[StreamStep] = stepsOf(commit, _.index < skipped).iterator

  /** Like [[rest]]. @param position the position in an offset of Apache Iceberg, see [[InApacheIcebergCommit]] */
  def restOfForeign(commit: Snapshot, position: Long): Iterator[StreamStep] =
    stepsOf(commit, wasRead(commit, position)).iterator

  /** Returns the position after the files that an offset of Apache Iceberg contains. */
  def endOfForeign(commit: Snapshot, position: Long): StreamPosition = {
    val isRead = wasRead(commit, position)
    addedBy(commit).find(file => !isRead(file))
      .fold[StreamPosition](After(commit.snapshotId))(next => InCommit(commit.snapshotId, next.index))
  }

  /**
   * Returns whether files come before a position of Apache Iceberg. A position that equals the number of added files in
   * the snapshot's summary means that the whole commit was read: Apache Iceberg writes it if a batch has no limit.
   */
  private def wasRead(commit: Snapshot, position: Long): AddedFile => Boolean = {
    val isComplete = commit.count(SummaryKey.AddedDataFiles).contains(position)
    file => isComplete || file.foreignIndex < position
  }

  private def stepsOf(commit: Snapshot, wasRead: AddedFile => Boolean): Vector[StreamStep] = content match {
    case appends: StreamContent.Appends => appends.treatmentOf(commit, table.name) match {
        case CommitTreatment.Read => appended(commit, wasRead)
        case CommitTreatment.Skip => Vector(StreamStep.Files(Vector.empty, After(commit.snapshotId)))
        case CommitTreatment.Reject(error) => Vector(StreamStep.Blocked(error))
      }
    case StreamContent.Changes if SnapshotRange.isRewrite(commit) =>
      Vector(StreamStep.Files(Vector.empty, After(commit.snapshotId)))
    case StreamContent.Changes => Vector(StreamStep.Files(changed(commit), After(commit.snapshotId), commits = 1))
  }

  private def appended(commit: Snapshot, wasRead: AddedFile => Boolean): Vector[StreamStep] = {
    val files = addedBy(commit).filterNot(wasRead)
    if (files.isEmpty) Vector(StreamStep.Files(Vector.empty, After(commit.snapshotId)))
    else files.map { file =>
      val end = if (file eq files.last) After(commit.snapshotId) else InCommit(commit.snapshotId, file.index + 1)
      StreamStep.Files(Vector(file.task), end)
    }
  }

  /**
   * A file that a commit added.
   *
   * @param index the number of the file in the commit
   * @param foreignIndex the number of the file in Apache Iceberg's offsets, see [[InApacheIcebergCommit]]
   */
  final private class AddedFile(val task: FileScanTask, val index: Long, val foreignIndex: Long)

  private def addedBy(commit: Snapshot): Vector[AddedFile] = {
    val tree = MetadataTree.at(commit, table, cache)
    val found = Vector.newBuilder[AddedFile]
    var index, live = 0L
    tree.changedParts.filter(_.content == ManifestContent.Data).foreach { part =>
      val added = tree.entries(part)
        .filter(e => e.status == EntryStatus.Added && e.snapshotId.contains(commit.snapshotId))
      val tasks = reader.select(part, added).tasks
      tasks.zipWithIndex.foreach { case (task, i) => found += new AddedFile(task, index + i, live + i) }
      index += tasks.size
      live += part.liveFiles.getOrElse(tasks.size.toLong)
    }
    found.result()
  }

  private def changed(commit: Snapshot): Vector[FileScanTask] = {
    val start = commit.parentSnapshotId.fold[RangeStart](RangeStart.Oldest)(RangeStart.After)
    val range = SnapshotRange(start, Vector(commit), Some(commit))
    ChangelogScan(table, range, AlwaysTrue, _ => true, caseSensitive = true, cache).plan().tasks
  }
}
