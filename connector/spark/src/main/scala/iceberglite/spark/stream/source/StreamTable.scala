package iceberglite.spark.stream.source

import iceberglite.scan.stream.{StreamPosition, StreamState}
import iceberglite.spark.conf.TimeTravel
import iceberglite.spec.schema.Schema
import iceberglite.table.{Action, Table}

/**
 * The table that a stream follows. Not thread-safe.
 *
 * @param travel selects the snapshot, branch or tag that the stream follows
 * @param columns selects the state of the table from which a new query takes its columns. This is the state that the
 *   table's name selects; read options select only rows
 */
final private[source] class StreamTable(
    loaded: Table,
    travel: TimeTravel,
    columns: TimeTravel = TimeTravel.Latest
) {
  private var table = loaded

  /** Returns the last known version of the table. */
  def current: Table = table

  /** Returns the columns that a new query of the last known version has. */
  def schema: Schema = columns.schema(table.metadata)

  def state: StreamState = StreamState(table.tree(), travel.snapshot(table.metadata))

  /** Loads the newest version of the table, with one request to the catalog. */
  def poll(): StreamState = {
    table = table.refresh()
    state
  }

  /** Commits a change to the last known version. */
  def commit(action: Action): Unit = table = table.transaction().add(action).commit()

  /** Returns a version of the table that contains the snapshot of a position, if the snapshot has not expired. */
  def including(position: StreamPosition): StreamState =
    if (table.version.hasAllSnapshots && position.snapshotId.forall(table.metadata.hasSnapshot)) state else poll()
}
