package iceberglite.spark.stream.source

import java.util.UUID

import iceberglite.spec.metadata.{Snapshot, TableMetadata}

/**
 * How a query moves the tag of its consumer. The sources of the query share these moves: a query that joins a stream
 * with itself has two sources. Not thread-safe, because Spark calls the sources of a query in one thread.
 */
final private[source] class ConsumerMoves {

  /**
   * The ids of the snapshots to which the tag may refer if only this query moves it: that of the last move, and that of
   * a later move with an unknown outcome. Empty before the first move, because the tag may be that of an earlier run.
   */
  var expected: Set[Long] = Set.empty

  private var positions = Map.empty[ConsumerTag, Long]

  /** Sets the snapshot up to which a source has read. */
  def advance(source: ConsumerTag, snapshotId: Long): Unit = positions += source -> snapshotId

  /** Returns the oldest snapshot up to which a source of the query has read, without snapshots that have expired. */
  def oldest(table: TableMetadata): Option[Snapshot] =
    positions.values.toVector.flatMap(id => table.findSnapshot(id)).sortBy(s => (s.sequenceNumber, s.timestampMs))
      .headOption
}

private[source] object ConsumerMoves {

  /** The moves of running queries by the checkpoint of the query, the table, and the tag. */
  private var running = Map.empty[(String, Option[UUID], String), ConsumerMoves]

  /** Returns the moves that the sources of a query share. @param query the checkpoint of the query */
  def of(query: String, table: Option[UUID], tag: String): ConsumerMoves = synchronized {
    val key = (query, table, tag)
    val moves = running.getOrElse(key, new ConsumerMoves)
    running += key -> moves
    moves
  }

  /** Ends the sharing when the query ends, because a later run cannot know whether other queries move the tag. */
  def release(moves: ConsumerMoves): Unit = synchronized {
    running = running.filterNot(_._2 eq moves)
  }
}
