package iceberglite.spec.json

import java.nio.charset.StandardCharsets.UTF_8
import java.util.UUID

import scala.annotation.tailrec
import scala.util.Try

import com.fasterxml.jackson.core.{JsonFactory, JsonGenerator, JsonParser, JsonProcessingException, JsonToken}

import iceberglite.spec.{IcebergError, TableMetadata}

/**
 * The metadata file of a table (spec: "Appendix C - Table Metadata and Snapshots", "Appendix E" for what differs
 * between versions 1, 2 and 3).
 */
object TableMetadataJson extends JsonFormat[TableMetadata] {

  /** @param file the path, for messages */
  def read(file: String, json: Array[Byte]): TableMetadata =
    PlainSnapshots.of(json).flatMap(readPlain(file, _)).getOrElse(parse(file, json))

  /** What is wrong with a file is said of the whole of it, in the words and with the place that this gives. */
  private def readPlain(file: String, history: PlainSnapshots): Option[TableMetadata] =
    try Some(TableMetadataReader.read(JsonValue.parse(file, history.rest), Some(history)))
    catch { case _: IcebergError => None }

  /** @param file the path, for messages */
  def read(file: String, json: String): TableMetadata = read(file, json.getBytes(UTF_8))

  /** The contents of a metadata file, uncompressed. */
  def write(metadata: TableMetadata): Array[Byte] =
    JsonFormat.bytes(write(metadata, _), FewBytes + math.min(metadata.snapshots.size, ManySnapshots) * SnapshotBytes)

  /**
   * The table's UUID in the first part of a metadata file, which need not be all of it.
   *
   * @return absent where this part is no JSON or has no valid UUID at its top level
   */
  def uuidIn(beginning: Array[Byte]): Option[UUID] =
    try {
      val parser = headFactory.createParser(beginning)
      try uuidAfter(parser, parser.nextToken())
      finally parser.close()
    } catch { case _: JsonProcessingException => None }

  @tailrec
  private def uuidAfter(parser: JsonParser, start: JsonToken): Option[UUID] = start match {
    case JsonToken.START_OBJECT | JsonToken.FIELD_NAME =>
      val key = parser.nextFieldName()
      if (key == null) None
      else {
        val value = parser.nextToken()
        if (key == TableMetadataKey.Uuid) Option(parser.getText).flatMap(text => Try(UUID.fromString(text)).toOption)
        else {
          if (value != null) parser.skipChildren()
          uuidAfter(parser, if (parser.currentToken == null) JsonToken.NOT_AVAILABLE else JsonToken.FIELD_NAME)
        }
      }
    case _ => None
  }

  private val headFactory = new JsonFactory

  /** With a schema and without snapshots. */
  private val FewBytes = 1 << 14

  /** What a snapshot and its entry in the log usually take. */
  private val SnapshotBytes = 1 << 10
  private val ManySnapshots = 1 << 16

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

  /** Version 1 alone: the current schema. */
  val OnlySchema = "schema"

  /** Version 1 alone: the fields of the default spec. */
  val OnlySpec = "partition-spec"

  /** Of the entries of both logs. */
  val TimestampMs = "timestamp-ms"
  val SnapshotId = "snapshot-id"
  val MetadataFile = "metadata-file"

  /** How versions 1 and 2 may say that there is no current snapshot. */
  val NoSnapshot: Long = -1L
}
