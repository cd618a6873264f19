package iceberglite.scan.stream

import java.util.UUID

import scala.util.Try

import com.fasterxml.jackson.core.JsonGenerator

import iceberglite.scan.stream.StreamPosition._
import iceberglite.spec.json.{JsonFormat, JsonValue}

/**
 * The offset of a stream, which checkpoints contain.
 *
 * @param commits the number of commits that were read, if the stream reads changes; otherwise 0
 * @param table the UUID of the table; absent in offsets of Apache Iceberg and for tables without a UUID
 */
final case class StreamOffset(position: StreamPosition, commits: Int = 0, table: Option[UUID] = None)

/**
 * The JSON form of offsets. The offsets of Apache Iceberg (version 1, with the keys `snapshot_id`, `position` and
 * `scan_all_files`) are also read. An offset of Apache Iceberg with the position [[InApacheIcebergCommit]] is written
 * in the same form. Batches never end with this position, so the query writes only offsets of iceberg-lite to its
 * checkpoint. Apache Iceberg rejects these offsets because of their version.
 */
object StreamOffset extends JsonFormat[StreamOffset] {
  private val Document = "the offset of a stream"
  private val Source = "source"
  private val OwnSource = "iceberg-lite"
  private val Version = "version"
  private val OwnVersion = 2
  private val ForeignVersion = 1
  private val TableUuid = "table-uuid"
  private val Position = "position"
  private val SnapshotId = "snapshot-id"
  private val Files = "files"
  private val Commits = "commits"
  private val ForeignSnapshotId = "snapshot_id"
  private val ScanAllFiles = "scan_all_files"

  /** Parses an offset. @throws iceberglite.spec.IcebergError.InvalidMetadata if the JSON is not a supported offset */
  def parse(json: String): StreamOffset = parse(Document, Option(json).getOrElse("null"))

  override def read(json: JsonValue): StreamOffset = if (json.has(Source)) readOwn(json) else readForeign(json)

  private def readOwn(json: JsonValue): StreamOffset = {
    requireVersion(json, OwnVersion)
    val position = json.string(Position) match {
      case "empty" => Empty
      case "in-snapshot" => InSnapshot(json.long(SnapshotId), filesOf(json))
      case "in-commit" => InCommit(json.long(SnapshotId), filesOf(json))
      case "after" => After(json.long(SnapshotId))
      case other => json(Position).fail(s"Unknown position: $other")
    }
    StreamOffset(position, json.optionalInt(Commits).getOrElse(0), json.optional(TableUuid).map(uuidOf))
  }

  private[stream] def uuidOf(json: JsonValue): UUID =
    Try(UUID.fromString(json.string)).getOrElse(json.fail(s"Not a UUID: ${json.string}"))

  private def filesOf(json: JsonValue): Long = {
    val files = json.long(Files)
    if (files < 0) json(Files).fail(s"It must be 0 or more, but is $files") else files
  }

  private def readForeign(json: JsonValue): StreamOffset = {
    requireVersion(json, ForeignVersion)
    val (snapshotId, position) = (json.long(ForeignSnapshotId), json.long(Position))
    if (snapshotId < 0) StreamOffset(Empty)
    else if (json(ScanAllFiles).boolean) StreamOffset(InSnapshot(snapshotId, math.max(0L, position)))
    else if (position <= 0) StreamOffset(InCommit(snapshotId, 0))
    else StreamOffset(InApacheIcebergCommit(snapshotId, position))
  }

  private def requireVersion(json: JsonValue, supported: Int): Unit = {
    val version = json.int(Version)
    if (version != supported) json(Version).fail(
      s"Version $version of offsets is not supported. Continue the query with the release that wrote its checkpoint"
    )
  }

  override def write(offset: StreamOffset, out: JsonGenerator): Unit = {
    out.writeStartObject()
    offset.position match {
      case InApacheIcebergCommit(snapshotId, position) => writeForeign(out, snapshotId, position)
      case Empty => writeOwn(out, offset, "empty")
      case After(_) => writeOwn(out, offset, "after")
      case InSnapshot(_, files) => writeOwn(out, offset, "in-snapshot", Some(files))
      case InCommit(_, files) => writeOwn(out, offset, "in-commit", Some(files))
    }
    out.writeEndObject()
  }

  private def writeOwn(
      out: JsonGenerator,
      offset: StreamOffset,
      position: String,
      files: Option[Long] = None
  ): Unit = {
    out.writeStringField(Source, OwnSource)
    out.writeNumberField(Version, OwnVersion)
    offset.table.foreach(uuid => out.writeStringField(TableUuid, uuid.toString))
    out.writeStringField(Position, position)
    offset.position.snapshotId.foreach(out.writeNumberField(SnapshotId, _))
    files.foreach(out.writeNumberField(Files, _))
    if (offset.commits > 0) out.writeNumberField(Commits, offset.commits)
  }

  private def writeForeign(out: JsonGenerator, snapshotId: Long, position: Long): Unit = {
    out.writeNumberField(Version, ForeignVersion)
    out.writeNumberField(ForeignSnapshotId, snapshotId)
    out.writeNumberField(Position, position)
    out.writeBooleanField(ScanAllFiles, false)
  }
}
