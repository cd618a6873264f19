package iceberglite.scan.stream

import java.util.UUID

import com.fasterxml.jackson.core.JsonGenerator

import iceberglite.scan.stream.StreamPosition.{After, Empty}
import iceberglite.spec.json.{JsonFormat, JsonValue, SchemaJson}
import iceberglite.spec.metadata.{Snapshot, TableMetadata}
import iceberglite.spec.schema.Schema

/**
 * The columns with which a stream reads the commits of a table, until it reaches a commit of rows with other columns.
 *
 * @param table the UUID of the table; absent for tables without a UUID
 * @param since the id of the newest commit when the columns were recorded. This commit and earlier ones are read with
 *   these columns, whatever columns they have. Absent if the branch was empty
 */
final case class TrackedSchema(table: Option[UUID], since: Option[Long], schema: Schema) {

  /**
   * Finds the commit with which the columns change.
   *
   * @param commits the commits that the stream has not read completely, oldest first
   * @return the first commit with other columns, and the changes of the columns; absent if there is none
   */
  def firstChange(metadata: TableMetadata, commits: Vector[Snapshot]): Option[TrackedSchema.Change] = {
    val later = commits.drop(commits.indexWhere(c => since.contains(c.snapshotId)) + 1)
    val changed = for {
      id <- later.flatMap(_.schemaId).distinct
      current <- metadata.schemas.find(_.schemaId == id)
      changes = StreamColumns.changes(schema, current) if changes.nonEmpty
    } yield id -> (changes -> current)
    val byId = changed.toMap
    for {
      commit <- later.find(_.schemaId.exists(byId.contains))
      (changes, current) <- commit.schemaId.flatMap(byId.get)
    } yield TrackedSchema.Change(commit, changes, copy(since = Some(commit.snapshotId), schema = current))
  }
}

/** The JSON form in which the columns of a stream are recorded. */
object TrackedSchema extends JsonFormat[TrackedSchema] {
  private val Version = "version"
  private val OwnVersion = 1
  private val TableUuid = "table-uuid"
  private val Since = "since-snapshot-id"
  private val SchemaKey = "schema"

  /**
   * A commit of rows with other columns than those that a stream reads.
   *
   * @param columns the changes of the columns, for messages
   * @param next the columns with which the commit and later ones are read
   */
  final case class Change(commit: Snapshot, columns: Vector[String], next: TrackedSchema) {

    /**
     * Returns the version of the table before this commit.
     *
     * @param from the position of the stream
     * @param commits the commits after the position, oldest first
     * @return absent if the stream has read everything before this commit
     */
    def before(state: StreamState, from: StreamPosition, commits: Vector[Snapshot]): Option[StreamState] = {
      val unfinished = from match {
        case Empty | After(_) => None
        case other => other.snapshotId.flatMap(state.metadata.findSnapshot)
      }
      commits.takeWhile(_.snapshotId != commit.snapshotId).lastOption.orElse(unfinished)
        .map(head => state.copy(head = Some(head)))
    }
  }

  override def read(json: JsonValue): TrackedSchema = {
    val version = json.int(Version)
    if (version != OwnVersion) json(Version).fail(
      s"Version $version of recorded columns is not supported. Continue the query with the release that wrote them"
    )
    TrackedSchema(
      json.optional(TableUuid).map(StreamOffset.uuidOf),
      json.optionalLong(Since),
      SchemaJson.read(json(SchemaKey))
    )
  }

  override def write(tracked: TrackedSchema, out: JsonGenerator): Unit = {
    out.writeStartObject()
    out.writeNumberField(Version, OwnVersion)
    tracked.table.foreach(uuid => out.writeStringField(TableUuid, uuid.toString))
    tracked.since.foreach(out.writeNumberField(Since, _))
    out.writeFieldName(SchemaKey)
    SchemaJson.write(tracked.schema, out)
    out.writeEndObject()
  }
}
