package iceberglite.scan.stream

import iceberglite.scan.stream.StreamPosition.After
import iceberglite.spec.metadata.{Snapshot, SummaryKey}

/**
 * The part of a branch that a stream has not read.
 *
 * @param snapshots the number of snapshots
 * @param files the number of data files that they added, according to their summaries
 * @param bytes the size of these files in bytes
 */
final case class StreamBacklog(snapshots: Int, files: Long, bytes: Long)

object StreamBacklog {
  def of(commits: Seq[Snapshot]): StreamBacklog = {
    def sum(key: String): Long = commits.iterator.flatMap(_.count(key)).sum
    StreamBacklog(commits.size, sum(SummaryKey.AddedDataFiles), sum(SummaryKey.AddedFilesSize))
  }

  /**
   * Returns what a stream has not read after an offset. If the stream has read the snapshot of the offset only in part,
   * this snapshot is counted too. If the branch does not contain this snapshot, the whole branch is counted.
   */
  def after(state: StreamState, offset: StreamOffset): StreamBacklog = {
    // The snapshots before the offset are not visited: there may be very many of them.
    val (newer, rest) = state.newestFirst.span(s => !offset.position.snapshotId.contains(s.snapshotId))
    val unread = newer.toVector
    offset.position match {
      case _: After => of(unread)
      case _ => of(unread ++ rest.take(1))
    }
  }
}
