package iceberglite.spark.stream.source

import iceberglite.scan.stream.StreamPosition
import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.metadata.{SnapshotRef, TableMetadata}
import iceberglite.table.StreamConsumer
import iceberglite.table.action.SetRef

/**
 * The tag with the position of a consumer, which protects the snapshots that the stream has not read.
 *
 * @param retentionMs the maximum age of the tagged snapshot in ms. When it is exceeded, an expiration removes the tag
 */
final private[source] case class ConsumerTag(consumer: StreamConsumer, retentionMs: Long) {

  /**
   * Moves the tag to the snapshot of a position. Does nothing if the snapshot has expired.
   *
   * @throws InvalidArgument if the table has a branch with the name of the tag
   * @throws iceberglite.spec.IcebergError.CommitConflict if another query moves the tag at the same time
   */
  def advance(table: StreamTable, position: StreamPosition): Unit = position.snapshotId.foreach { id =>
    val newest = table.poll().metadata
    requireNoBranch(newest)
    val tag = SnapshotRef.Tag(id, Some(retentionMs))
    if (newest.hasSnapshot(id) && !newest.refs.get(consumer.tag).contains(tag)) {
      table.commit(new SetRef(consumer.tag, tag))
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
