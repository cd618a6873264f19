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
 * @param table the UUID of the table
 * @param reader the stream that recorded the columns
 * @param since the id of the newest commit when the columns were recorded. This commit and earlier ones are read with
 *   these columns, even if their schema differs. Absent if the branch was empty
 */
final case class TrackedSchema(table: UUID, reader: TrackedSchema.Reader, since: Option[Long], schema: Schema) {

  /**
   * Finds the commit with which the columns change. Commits that the stream skips are ignored. A commit without the id
   * of a known schema is compared with the current schema, so that no added column is missed.
   *
   * @param commits the commits that the stream has not read completely, oldest first
   * @return the first commit with other columns, and the changes of the columns; absent if there is none
   */
  def firstChange(
      state: StreamState,
      commits: Vector[Snapshot],
      content: StreamContent
  ): Option[TrackedSchema.Change] = {
    val metadata = state.metadata
    val later = commitsSince(metadata, commits).filterNot(content.skips(_, state.table.name))
    // The schemas are compared once for each id, because there may be many commits.
    val changed = later.map(commit => commit.schemaId -> metadata.schemaOf(commit)).toMap.collect {
      case (id, other) if StreamColumns.changes(schema, other).nonEmpty => id
    }.toSet
    later.find(commit => changed(commit.schemaId)).map { commit =>
      val current = metadata.schemaOf(commit)
      TrackedSchema.Change(
        commit,
        StreamColumns.changes(schema, current) ++ StreamColumns.renames(schema, current),
        copy(since = Some(commit.snapshotId), schema = current)
      )
    }
  }

  /**
   * Returns the commits that were made after the columns were recorded. If the commit of `since` was rolled back, or is
   * newer than the given commits, its ancestors are the commits that were made before.
   */
  private def commitsSince(metadata: TableMetadata, commits: Vector[Snapshot]): Vector[Snapshot] = {
    val positions = commits.iterator.map(_.snapshotId).zipWithIndex.toMap
    val last = for {
      oldest <- commits.headOption
      recorded <- since.flatMap(metadata.findSnapshot)
      made = metadata.ancestors(recorded).takeWhile(_.sequenceNumber >= oldest.sequenceNumber)
      position <- made.map(s => positions.get(s.snapshotId)).find(_.isDefined).flatten
    } yield position
    commits.drop(last.fold(0)(_ + 1))
  }
}

/** The JSON form in which the columns of a stream are recorded. */
object TrackedSchema extends JsonFormat[TrackedSchema] {
  private val Version = "version"
  private val OwnVersion = 1
  private val TableUuid = "table-uuid"
  private val Since = "since-snapshot-id"
  private val SchemaKey = "schema"
  private val QueryKey = "query"
  private val SourceKey = "source"

  /**
   * A stream of a query.
   *
   * @param query the id of the query
   * @param source the number of the stream in the query; absent if it is unknown
   */
  final case class Reader(query: String, source: Option[String]) {
    override def toString: String = source.fold(s"query $query")(n => s"source $n of the query $query")
  }

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
     * @throws iceberglite.spec.IcebergError.NotFound if the stream has read a part of a snapshot that has expired
     */
    def before(state: StreamState, from: StreamPosition, commits: Vector[Snapshot]): Option[StreamState] = {
      def unfinished: Option[Snapshot] = from match {
        case Empty | After(_) => None
        case other => other.snapshotId
            .map(id => state.metadata.findSnapshot(id).getOrElse(throw StreamHistory.expired(state, id)))
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
      StreamOffset.uuidOf(json(TableUuid)),
      Reader(json.string(QueryKey), json.optionalString(SourceKey)),
      json.optionalLong(Since),
      SchemaJson.read(json(SchemaKey))
    )
  }

  override def write(tracked: TrackedSchema, out: JsonGenerator): Unit = {
    out.writeStartObject()
    out.writeNumberField(Version, OwnVersion)
    out.writeStringField(TableUuid, tracked.table.toString)
    out.writeStringField(QueryKey, tracked.reader.query)
    tracked.reader.source.foreach(out.writeStringField(SourceKey, _))
    tracked.since.foreach(out.writeNumberField(Since, _))
    out.writeFieldName(SchemaKey)
    SchemaJson.write(tracked.schema, out)
    out.writeEndObject()
  }
}
