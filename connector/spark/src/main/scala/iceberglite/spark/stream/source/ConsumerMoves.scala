package iceberglite.spark.stream.source

import java.util.UUID

import iceberglite.spec.metadata.{Snapshot, TableMetadata}

/**
 * The moves of a [[ConsumerTag]] by one query. The sources of the query share this object: a query that joins a stream
 * with itself has two sources. Not thread-safe, because Spark calls the sources of a query in one thread.
 */
final private[source] class ConsumerMoves {

  /**
   * The ids of the snapshots to which the tag may refer if only this query moves it: the snapshot of the last move and,
   * if a later move failed or has an unknown outcome, the snapshot of that move. Empty before the first move, because
   * an earlier run may have created the tag.
   */
  var expected: Set[Long] = Set.empty

  private var positions = Map.empty[ConsumerTag, Long]

  /** Records the snapshot up to which a source has read. */
  def advance(source: ConsumerTag, snapshotId: Long): Unit = positions += source -> snapshotId

  /** Returns the oldest of the snapshots up to which the sources of the query have read. Ignores expired snapshots. */
  def oldest(table: TableMetadata): Option[Snapshot] =
    positions.values.toVector.flatMap(id => table.findSnapshot(id)).sortBy(s => (s.sequenceNumber, s.timestampMs))
      .headOption
}

private[source] object ConsumerMoves {

  /** The moves of running queries by the checkpoint of the query, the table, and the tag. */
  private var running = Map.empty[(String, Option[UUID], String), ConsumerMoves]

  /** Returns the object that the sources of a query share. @param query the checkpoint of the query */
  def of(query: String, table: Option[UUID], tag: String): ConsumerMoves = synchronized {
    val key = (query, table, tag)
    val moves = running.getOrElse(key, new ConsumerMoves)
    running += key -> moves
    moves
  }

  /** Forgets the moves when the query ends. Other queries may move the tag before the query is started again. */
  def release(moves: ConsumerMoves): Unit = synchronized {
    running = running.filterNot(_._2 eq moves)
  }
}
