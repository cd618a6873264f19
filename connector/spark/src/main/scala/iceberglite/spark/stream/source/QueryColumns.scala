package iceberglite.spark.stream.source

import iceberglite.scan.stream.{StreamColumns, StreamState, TrackedSchema}
import iceberglite.spark.conf.StreamOptions
import iceberglite.spec.IcebergError.ValidationFailed
import iceberglite.spec.schema.Schema

/**
 * The columns that one streaming read of a query records with the option `schema-tracking`.
 *
 * @param reader the streaming read
 * @param name the name of the table, for messages
 */
final private[source] class QueryColumns(tracking: SchemaTracking, reader: TrackedSchema.Reader, name: String) {

  /**
   * Checks that no columns are recorded, before a query begins. Otherwise the query would read with the columns of
   * another query, or with columns of a checkpoint that was deleted.
   *
   * @throws ValidationFailed if columns are recorded
   */
  def requireUnused(state: StreamState): Unit =
    tracking.recorded(name, state.metadata).foreach { known =>
      if (known.columns.reader != reader) throw ofOther(known.columns.reader)
      throw ValidationFailed(
        s"The directory ${tracking.location} (option ${StreamOptions.SchemaTracking.key}) contains the columns of " +
          s"$name that $reader has recorded, but its checkpoint contains no offset. Start with a new checkpoint " +
          "location and a new directory for the option"
      )
    }

  /**
   * Returns the columns of a query that starts, and records them if no query has started before.
   *
   * @param read the columns of the DataFrame
   * @param current the columns that a new DataFrame has
   * @param state the version of the table, which is part of the history that the query follows
   * @throws ValidationFailed if the DataFrame was created before the columns changed, or if another query has recorded
   *   the columns
   */
  def start(read: Schema, current: Schema, state: StreamState): SchemaTracking.Recorded =
    check(read, state).getOrElse {
      StreamColumns.check(name, read, current)
      val uuid = tracking.uuidOf(name, state.metadata)
      val first = TrackedSchema(uuid, reader, state.head.map(_.snapshotId), read)
      tracking.create(name, state.metadata, 0, first)
    }

  /**
   * Returns the recorded columns.
   *
   * @throws ValidationFailed if the DataFrame has other columns, or if another query has recorded the columns
   */
  def check(read: Schema, state: StreamState): Option[SchemaTracking.Recorded] = {
    val known = tracking.recorded(name, state.metadata)
    known.foreach { record =>
      if (record.columns.reader != reader) throw ofOther(record.columns.reader)
      StreamColumns.check(name, read, record.columns.schema)
    }
    known
  }

  /**
   * Records the columns of the next commit, after all commits before it were read.
   *
   * @param known the columns with which the earlier commits were read
   * @throws ValidationFailed always, because Spark fixes the columns of a running query
   */
  def advance(state: StreamState, known: SchemaTracking.Recorded, change: TrackedSchema.Change): Nothing = {
    tracking.create(name, state.metadata, known.number + 1, change.next)
    throw ValidationFailed(
      s"The columns of $name changed with snapshot ${change.commit.snapshotId}: " +
        s"${change.columns.mkString("; ")}. The query has read all rows of earlier snapshots. The new columns are " +
        s"recorded in ${tracking.location}. Create the DataFrame again, and start the query with the same checkpoint " +
        s"location: it continues with snapshot ${change.commit.snapshotId} and the new columns"
    )
  }

  private def ofOther(other: TrackedSchema.Reader): ValidationFailed = ValidationFailed(
    s"The directory ${tracking.location} (option ${StreamOptions.SchemaTracking.key}) contains the columns of $name " +
      s"that $other has recorded, and $reader cannot use them. Use a directory for each streaming read of the table, " +
      "such as the checkpoint location. If the other query no longer exists, delete the directory"
  )
}
