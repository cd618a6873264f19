package iceberglite.spark.stream.source

import iceberglite.scan.stream.StreamPosition
import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.metadata.{SnapshotRef, TableMetadata}
import iceberglite.table.{Environment, StreamConsumer}
import iceberglite.table.action.SetRef

/**
 * The tag with the position of a consumer, which protects the snapshots that the stream has not read.
 *
 * @param retentionMs how long the tag lives after it was moved, in ms. After this time, an expiration removes the tag
 * @param nowMs returns the current time in milliseconds since the epoch
 */
final private[source] case class ConsumerTag(
    consumer: StreamConsumer,
    retentionMs: Long,
    nowMs: () => Long = Environment.system.nowMs
) {

  /**
   * Loads the newest version of the table, and then moves the tag like [[advanceKnown]].
   *
   * @throws InvalidArgument if the table has a branch with the name of the tag
   * @throws iceberglite.spec.IcebergError.CommitConflict if another query moves the tag at the same time
   */
  def advance(table: StreamTable, position: StreamPosition): Unit = if (position.snapshotId.isDefined) {
    table.poll()
    advanceKnown(table, position)
  }

  /**
   * Moves the tag to the snapshot of a position, or extends its life if less than half of the retention remains. Does
   * nothing if the snapshot has expired. The maximum age of a tag counts from the commit of its snapshot, and therefore
   * contains the time by which the stream is behind.
   *
   * @throws InvalidArgument if the table has a branch with the name of the tag
   * @throws iceberglite.spec.IcebergError.CommitConflict if another query moves the tag at the same time
   */
  def advanceKnown(table: StreamTable, position: StreamPosition): Unit = position.snapshotId.foreach { id =>
    val newest = table.current.metadata
    requireNoBranch(newest)
    newest.findSnapshot(id).foreach { snapshot =>
      val lagMs = math.max(0L, nowMs() - snapshot.timestampMs)
      val isRecent = newest.refs.get(consumer.tag).exists { tag =>
        tag.snapshotId == id && tag.maxRefAgeMs.exists(_ - lagMs >= retentionMs / 2)
      }
      val maxAgeMs = if (retentionMs > Long.MaxValue - lagMs) Long.MaxValue else lagMs + retentionMs
      if (!isRecent) table.commit(new SetRef(consumer.tag, SnapshotRef.Tag(id, Some(maxAgeMs))))
    }
  }

  private def requireNoBranch(table: TableMetadata): Unit = table.refs.get(consumer.tag) match {
    case Some(_: SnapshotRef.Branch) => throw InvalidArgument(
        "option consumer-id",
        consumer.id,
        s"The table has a branch ${consumer.tag}; choose another id"
      )
    case _ => ()
  }
}
