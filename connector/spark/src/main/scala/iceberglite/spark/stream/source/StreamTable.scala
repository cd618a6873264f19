package iceberglite.spark.stream.source

import iceberglite.scan.stream.{StreamPlanner, StreamPosition, StreamState}
import iceberglite.spark.conf.TimeTravel
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.schema.Schema
import iceberglite.table.{Action, Table}

/**
 * The table that a stream follows. Not thread-safe.
 *
 * @param travel selects the branch or tag that the stream follows
 * @param columns returns the columns that a new read of a version of the table has. The name of the table and the
 *   option for the schema select them; the other options select only rows
 */
final private[source] class StreamTable(
    loaded: Table,
    travel: TimeTravel,
    columns: TableMetadata => Schema = _.schema
) {
  private var table = loaded

  /** Returns the last known version of the table. */
  def current: Table = table

  /** Returns the columns that a new read of a version of the table has. */
  def columnsOf(state: StreamState): Schema = columns(state.metadata)

  def state: StreamState = StreamState(table.tree(), travel.snapshot(table.metadata))

  /**
   * Loads the newest version of the table, with one request to the catalog.
   *
   * @throws iceberglite.spec.IcebergError.ValidationFailed if another table has the name now
   */
  def poll(): StreamState = {
    val newest = table.loadByName()
    StreamPlanner.requireSameTable(table.name, table.metadata.uuid, newest.metadata)
    table = newest
    state
  }

  /** Commits a change to the last known version. */
  def commit(action: Action): Unit = table = table.transaction().add(action).commit()

  /** Returns a version of the table that contains the snapshot of a position, if the snapshot has not expired. */
  def including(position: StreamPosition): StreamState =
    if (table.version.hasAllSnapshots && position.snapshotId.forall(table.metadata.hasSnapshot)) state else poll()
}
