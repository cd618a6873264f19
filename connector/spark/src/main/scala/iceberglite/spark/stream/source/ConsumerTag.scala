package iceberglite.spark.stream.source

import iceberglite.scan.stream.StreamPosition
import iceberglite.spec.IcebergError.{InvalidArgument, ValidationFailed}
import iceberglite.spec.metadata.{Snapshot, SnapshotRef, TableMetadata}
import iceberglite.table.{Environment, StreamConsumer}
import iceberglite.table.action.SetRef

/**
 * The tag of a consumer, which is a streaming query with the option `consumer-id`. The tag refers to the last snapshot
 * that the query has read, so that expiration keeps the later snapshots. Not thread-safe.
 *
 * @param retentionMs how long the tag is kept after its last move, in ms. After this time, an expiration removes it
 * @param nowMs returns the current time in milliseconds since the epoch
 * @param moves the moves of the tag, which the sources of the query share
 */
final private[source] class ConsumerTag(
    consumer: StreamConsumer,
    retentionMs: Long,
    nowMs: () => Long = Environment.system.nowMs,
    moves: ConsumerMoves = new ConsumerMoves
) {

  /**
   * Checks that no other query uses the same consumer.
   *
   * @throws ValidationFailed if the tag in the last known version of the table is not where this query moved it
   */
  def requireSingleQuery(table: StreamTable): Unit = {
    loadMovesOfOtherSources(table)
    table.current.metadata.refs.get(consumer.tag) match {
      case Some(tag: SnapshotRef.Tag) if moves.expected.nonEmpty && !moves.expected(tag.snapshotId) =>
        throw ValidationFailed(
          s"Two queries that read ${table.current.name} have the consumer-id ${consumer.id}: this query moved the " +
            s"tag ${consumer.tag} to snapshot ${moves.expected.mkString(" or ")}, and it refers to snapshot " +
            s"${tag.snapshotId} now. Each query needs its own consumer-id. Set another id for one of the queries, " +
            "and start this query again"
        )
      case _ => ()
    }
  }

  /**
   * Loads the newest version of the table if the last known version does not have the tag where the query moved it,
   * because another source of the query may have moved the tag.
   */
  private def loadMovesOfOtherSources(table: StreamTable): Unit = {
    val known = table.current.metadata.refs.get(consumer.tag)
    if (moves.expected.nonEmpty && !known.exists(ref => moves.expected(ref.snapshotId))) {
      table.poll()
      ()
    }
  }

  /**
   * Moves the tag in the last known version of the table to the snapshot of a position, or extends its life if less
   * than half of the retention remains. Does nothing if the snapshot has expired. If another source of the query has an
   * older position, the tag moves to that position. The maximum age of a tag counts from the commit of its snapshot.
   * Therefore, it includes the time since this commit.
   *
   * @throws InvalidArgument if the table has a branch with the name of the tag
   * @throws iceberglite.spec.IcebergError.CommitConflict if another query moves the tag at the same time
   */
  def advance(table: StreamTable, position: StreamPosition): Unit = position.snapshotId.foreach { id =>
    loadMovesOfOtherSources(table)
    val known = table.current.metadata
    requireNoBranch(known)
    moves.advance(this, id)
    if (known.hasSnapshot(id)) moves.oldest(known).foreach(moveTo(_, table))
  }

  /** Ends the use of the tag, when the query ends. */
  def release(): Unit = ConsumerMoves.release(moves)

  private def moveTo(snapshot: Snapshot, table: StreamTable): Unit = {
    val id = snapshot.snapshotId
    val lagMs = math.max(0L, nowMs() - snapshot.timestampMs)
    val isRecent = table.current.metadata.refs.get(consumer.tag).exists { tag =>
      tag.snapshotId == id && tag.maxRefAgeMs.exists(_ - lagMs >= retentionMs / 2)
    }
    val maxAgeMs = if (retentionMs > Long.MaxValue - lagMs) Long.MaxValue else lagMs + retentionMs
    moves.expected += id
    if (!isRecent) table.commit(new SetRef(consumer.tag, SnapshotRef.Tag(id, Some(maxAgeMs))))
    moves.expected = Set(id)
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
