package iceberglite.table.action

import java.util.UUID

import scala.util.Try

import iceberglite.spec.metadata.{Snapshot, TableMetadata}

/**
 * A streaming query that has written to a table, as the table's properties record it (see [[RecordStreamEpoch]]).
 *
 * @param queryId the id of the query, which its checkpoint contains
 * @param epoch the last epoch that the query has committed; absent if the property is not a whole number
 */
final case class StreamWriter(queryId: String, epoch: Option[Long]) {

  /** The property that records the epoch. */
  def property: String = RecordApplicationVersion.Prefix + queryId

  /** Returns the newest snapshot of the query in the history of the current snapshot; absent if it has expired. */
  def newestSnapshot(table: TableMetadata): Option[Snapshot] =
    table.currentSnapshot.flatMap(
      table.ancestors(_).find(_.summary.get(RecordStreamEpoch.QueryIdKey).contains(queryId))
    )
}

object StreamWriter {

  /**
   * Returns the streaming queries that have recorded their epochs in a table, ordered by query id. The ids of Spark's
   * queries are UUIDs; other properties with the same prefix record the versions of batch writes.
   */
  def of(table: TableMetadata): Vector[StreamWriter] = table.properties.toVector.collect {
    case (key, value) if key.startsWith(RecordApplicationVersion.Prefix) =>
      key.drop(RecordApplicationVersion.Prefix.length) -> value
  }.collect { case (id, value) if isUuid(id) => StreamWriter(id, Try(value.toLong).toOption) }.sortBy(_.queryId)

  private def isUuid(text: String): Boolean = Try(UUID.fromString(text)).toOption.exists(_.toString == text)
}
