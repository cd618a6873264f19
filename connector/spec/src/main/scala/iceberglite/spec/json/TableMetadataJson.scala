package iceberglite.spec.json

import java.nio.charset.StandardCharsets.UTF_8
import java.util.UUID

import scala.annotation.tailrec
import scala.util.Try

import com.fasterxml.jackson.core.{JsonFactory, JsonGenerator, JsonParser, JsonProcessingException, JsonToken}

import iceberglite.spec.IcebergError
import iceberglite.spec.metadata.TableMetadata

/**
 * The JSON form of a table metadata file (spec: "Appendix C - Table Metadata and Snapshots"). "Appendix E" of the
 * specification describes the differences between versions 1, 2 and 3.
 */
object TableMetadataJson extends JsonFormat[TableMetadata] {

  /** Reads a metadata file. @param file the path, for messages */
  def read(file: String, json: Array[Byte]): TableMetadata =
    FastSnapshots.of(json).flatMap(readFast(file, _)).getOrElse(parse(file, json))

  /**
   * Reads a metadata file whose snapshots and snapshot log have already been read. Returns `None` on an error. The
   * caller then parses the whole file, so that the reported position refers to the original file.
   */
  private def readFast(file: String, history: FastSnapshots): Option[TableMetadata] =
    try Some(TableMetadataReader.read(JsonValue.parse(file, history.rest), Some(history)))
    catch { case _: IcebergError => None }

  /** Reads a metadata file. @param file the path, for messages */
  def read(file: String, json: String): TableMetadata = read(file, json.getBytes(UTF_8))

  /** Returns the content of a metadata file, uncompressed. */
  def write(metadata: TableMetadata): Array[Byte] =
    JsonFormat.bytes(
      write(metadata, _),
      BaseSize + math.min(metadata.snapshots.size, MaxBufferedSnapshots) * SnapshotSize
    )

  /**
   * Returns the metadata with [[iceberglite.spec.metadata.SnapshotWithJson]]s as its snapshots. After a metadata file
   * is written, this metadata is kept as the base of the next commits, which copy the JSON of these snapshots.
   */
  def withSnapshotJson(metadata: TableMetadata): TableMetadata =
    metadata.copy(snapshots = SnapshotsWriter.withJson(metadata.snapshots))

  /**
   * Returns the table's UUID from the beginning of a metadata file. The beginning may end within a JSON value.
   *
   * @return absent if the beginning is not JSON, or if it contains no valid table UUID
   */
  def uuidIn(beginning: Array[Byte]): Option[UUID] =
    textIn(beginning, TableMetadataKey.Uuid).flatMap(text => Try(UUID.fromString(text)).toOption)

  /** Like [[uuidIn]], for the time of the last change to the table. */
  def lastUpdatedMsIn(beginning: Array[Byte]): Option[Long] = numberIn(beginning, TableMetadataKey.LastUpdatedMs)

  /** Like [[uuidIn]], for the last sequence number. */
  def lastSequenceNumberIn(beginning: Array[Byte]): Option[Long] =
    numberIn(beginning, TableMetadataKey.LastSequenceNumber)

  /** Like [[uuidIn]], for the id of the current snapshot. The inner option is empty if there is no current snapshot. */
  def currentSnapshotIdIn(beginning: Array[Byte]): Option[Option[Long]] =
    textIn(beginning, TableMetadataKey.CurrentSnapshotId)
      .map(text => Try(text.toLong).toOption.filter(_ != TableMetadataKey.NoSnapshot))

  private def numberIn(beginning: Array[Byte], key: String): Option[Long] =
    textIn(beginning, key).flatMap(text => Try(text.toLong).toOption)

  private def textIn(beginning: Array[Byte], key: String): Option[String] =
    try {
      val parser = prefixFactory.createParser(beginning)
      try textAfter(parser, parser.nextToken(), key)
      finally parser.close()
    } catch { case _: JsonProcessingException => None }

  @tailrec
  private def textAfter(parser: JsonParser, start: JsonToken, wanted: String): Option[String] = start match {
    case JsonToken.START_OBJECT | JsonToken.FIELD_NAME =>
      val key = parser.nextFieldName()
      if (key == null) None
      else {
        val value = parser.nextToken()
        if (key == wanted) Option(parser.getText)
        else {
          if (value != null) parser.skipChildren()
          textAfter(parser, if (parser.currentToken == null) JsonToken.NOT_AVAILABLE else JsonToken.FIELD_NAME, wanted)
        }
      }
    case _ => None
  }

  private val prefixFactory = new JsonFactory

  /** The initial buffer size for metadata without snapshots, in bytes. */
  private val BaseSize = 1 << 14

  /** The usual size of a snapshot and its log entry, in bytes. */
  private val SnapshotSize = 1 << 10

  /** The maximum number of snapshots that the initial buffer size takes into account. */
  private val MaxBufferedSnapshots = 1 << 16

  override def read(json: JsonValue): TableMetadata = TableMetadataReader.read(json, None)

  override def write(metadata: TableMetadata, out: JsonGenerator): Unit = TableMetadataWriter.write(metadata, out)
}

/** The keys of a metadata file. */
private[json] object TableMetadataKey {
  val Version = "format-version"
  val Uuid = "table-uuid"
  val Location = "location"
  val LastSequenceNumber = "last-sequence-number"
  val LastUpdatedMs = "last-updated-ms"
  val LastColumnId = "last-column-id"
  val CurrentSchemaId = "current-schema-id"
  val Schemas = "schemas"
  val DefaultSpecId = "default-spec-id"
  val Specs = "partition-specs"
  val LastPartitionId = "last-partition-id"
  val DefaultSortOrderId = "default-sort-order-id"
  val SortOrders = "sort-orders"
  val Properties = "properties"
  val CurrentSnapshotId = "current-snapshot-id"
  val Refs = "refs"
  val Snapshots = "snapshots"
  val Statistics = "statistics"
  val PartitionStatistics = "partition-statistics"
  val SnapshotLog = "snapshot-log"
  val MetadataLog = "metadata-log"
  val NextRowId = "next-row-id"
  val EncryptionKeys = "encryption-keys"
  val Expressions = "expressions"

  /**
   * The table property with a copy of [[Expressions]] as JSON. Writers that do not know the key [[Expressions]] drop it
   * when they write the metadata, but they keep the properties. The property exists only in metadata files.
   */
  val ExpressionsCopy = "iceberg-lite.v4.expressions"

  /** The key of the current schema in version 1. */
  val V1Schema = "schema"

  /** The key of the fields of the default partition spec in version 1. */
  val V1PartitionSpec = "partition-spec"

  // The keys of the entries of the snapshot log and the metadata log.
  val TimestampMs = "timestamp-ms"
  val SnapshotId = "snapshot-id"
  val MetadataFile = "metadata-file"

  /** The id with which versions 1 and 2 may represent the absence of a current snapshot. */
  val NoSnapshot: Long = -1L
}
