package iceberglite.spark.stream.source

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import iceberglite.scan.stream.{StreamColumns, StreamState, TrackedSchema}
import iceberglite.spec.IcebergError.ValidationFailed
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.schema.Schema

/**
 * The columns of a streaming query with the option `schema-tracking`. A file in the location of the option contains
 * them, so that they are known when Spark creates a DataFrame, which is before it reads the checkpoint of the query.
 *
 * @param location the value of the option
 */
final private[iceberglite] class SchemaTracking(location: String, conf: Configuration) {

  private def fileOf(table: TableMetadata): CheckpointFile = {
    val name = table.uuid.fold("table")(_.toString)
    new CheckpointFile(new Path(new Path(location, SchemaTracking.Directory), s"$name.json"), conf)
  }

  /**
   * Returns the recorded columns of a table; absent before a query has started.
   *
   * @throws iceberglite.spec.IcebergError.StorageFailed if the file cannot be read
   * @throws iceberglite.spec.IcebergError.InvalidMetadata if the file does not contain columns of a stream
   */
  def recorded(table: TableMetadata): Option[TrackedSchema] = {
    val file = fileOf(table)
    file.read().map(TrackedSchema.parse(file.toString, _))
  }

  /**
   * Returns the columns of a query that starts, and records them if no query has started before.
   *
   * @param read the columns of the DataFrame
   * @throws ValidationFailed if the DataFrame was created before the columns changed
   */
  private[source] def start(read: Schema, current: Schema, state: StreamState): TrackedSchema = {
    val known = recorded(state.metadata)
    StreamColumns.check(state.table.name, read, known.fold(current)(_.schema))
    known.getOrElse {
      val first = TrackedSchema(state.metadata.uuid, state.head.map(_.snapshotId), read)
      fileOf(state.metadata).write(TrackedSchema.toJson(first), replaces = false)
      first
    }
  }

  /**
   * Records the columns of the next commit, after all commits before it were read.
   *
   * @throws ValidationFailed always, because Spark fixes the columns of a running query
   */
  private[source] def advance(state: StreamState, change: TrackedSchema.Change): Nothing = {
    fileOf(state.metadata).write(TrackedSchema.toJson(change.next), replaces = true)
    throw ValidationFailed(
      s"The columns of ${state.table.name} changed with snapshot ${change.commit.snapshotId}: " +
        s"${change.columns.mkString("; ")}. The query has read all rows of earlier snapshots. The new columns are " +
        s"recorded in $location. Create the DataFrame again, and start the query with the same checkpoint location: " +
        s"it continues with snapshot ${change.commit.snapshotId} and the new columns"
    )
  }
}

private[iceberglite] object SchemaTracking {

  /** The directory of the files with columns, inside the location of the option. */
  private val Directory = "schema-tracking"
}
