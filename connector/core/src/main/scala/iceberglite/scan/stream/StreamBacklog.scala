package iceberglite.scan.stream

import iceberglite.scan.stream.StreamPosition.{InCommit, InApacheIcebergCommit, InSnapshot}
import iceberglite.spec.metadata.{Snapshot, SummaryKey}

/**
 * The part of a branch that a stream has not read, according to the summaries of the snapshots.
 *
 * @param snapshots the number of snapshots
 * @param files the number of data files that these snapshots added. If the stream has not yet read all files of the
 *   snapshot with which it starts, the unread files of this snapshot are counted too, whichever commit added them
 * @param rows the number of rows in these files
 * @param bytes the size of these files and of the delete files that were added with them, in bytes
 */
final case class StreamBacklog(snapshots: Int, files: Long, rows: Long, bytes: Long) {
  private def +(other: StreamBacklog): StreamBacklog =
    StreamBacklog(snapshots + other.snapshots, files + other.files, rows + other.rows, bytes + other.bytes)

  /** Returns the backlog without files that were read, as if all files had the same number of rows and bytes. */
  private def without(readFiles: Long): StreamBacklog = {
    val unread = math.max(0L, files - readFiles)
    def part(count: Long): Long = if (files <= 0) count else (count.toDouble * unread / files).round
    copy(files = unread, rows = part(rows), bytes = part(bytes))
  }
}

object StreamBacklog {

  def of(commits: Seq[Snapshot]): StreamBacklog = commits.map(added).foldLeft(StreamBacklog(0, 0L, 0L, 0L))(_ + _)

  private def added(commit: Snapshot): StreamBacklog = {
    def count(key: String): Long = commit.count(key).getOrElse(0L)
    StreamBacklog(
      1,
      count(SummaryKey.AddedDataFiles),
      count(SummaryKey.AddedRecords),
      count(SummaryKey.AddedFilesSize)
    )
  }

  /**
   * Returns a backlog of all files of a snapshot. If the summary lacks a total, the number that the snapshot added is
   * used instead.
   */
  private def whole(snapshot: Snapshot): StreamBacklog = {
    val commit = added(snapshot)
    def total(key: String, otherwise: Long): Long = snapshot.count(key).getOrElse(otherwise)
    StreamBacklog(
      1,
      total(SummaryKey.TotalDataFiles, commit.files),
      total(SummaryKey.TotalRecords, commit.rows),
      total(SummaryKey.TotalFilesSize, commit.bytes)
    )
  }

  /**
   * Returns what a stream has not read after an offset. If the stream has read the snapshot of the offset only in part,
   * the other part is counted too. If the branch does not contain this snapshot, the whole branch is counted.
   */
  def after(state: StreamState, offset: StreamOffset): StreamBacklog = {
    // The snapshots before the offset are not visited: there may be very many of them.
    val (newer, rest) = state.newestFirst.span(s => !offset.position.snapshotId.contains(s.snapshotId))
    val unread = of(newer.toVector)
    (offset.position, rest.take(1).toVector.headOption) match {
      case (InSnapshot(_, files), Some(snapshot)) => unread + whole(snapshot).without(files)
      case (InCommit(_, files), Some(snapshot)) => unread + added(snapshot).without(files)
      case (InApacheIcebergCommit(_, _), Some(snapshot)) => unread + added(snapshot)
      case _ => unread
    }
  }
}
