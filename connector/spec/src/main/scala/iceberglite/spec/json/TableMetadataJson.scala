package iceberglite.spec.json

import com.fasterxml.jackson.core.JsonGenerator

import iceberglite.spec.TableMetadata

/**
 * The metadata file of a table (spec: "Appendix C - Table Metadata and Snapshots", "Appendix E" for what differs
 * between versions 1, 2 and 3).
 */
object TableMetadataJson extends JsonFormat[TableMetadata] {

  /** @param file the path, for messages */
  def read(file: String, json: Array[Byte]): TableMetadata = parse(file, json)

  /** @param file the path, for messages */
  def read(file: String, json: String): TableMetadata = parse(file, json)

  /** The contents of a metadata file, uncompressed. */
  def write(metadata: TableMetadata): Array[Byte] = toBytes(metadata)

  override def read(json: JsonValue): TableMetadata = TableMetadataReader.read(json)

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
