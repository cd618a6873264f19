package iceberglite.spec.json

import scala.util.Try

import com.fasterxml.jackson.core.JsonGenerator

import iceberglite.spec.metadata.{BlobMetadata, PartitionStatisticsFile, StatisticsFile}

/** The JSON form of a table statistics file in the table metadata (spec: "Table Statistics"). */
object StatisticsJson extends JsonFormat[StatisticsFile] {
  private[json] val SnapshotId = "snapshot-id"
  private[json] val StatisticsPath = "statistics-path"
  private[json] val FileSize = "file-size-in-bytes"
  private val FooterSize = "file-footer-size-in-bytes"
  private val KeyMetadata = "key-metadata"
  private val Blobs = "blob-metadata"
  private val BlobType = "type"
  private val SequenceNumber = "sequence-number"
  private val Fields = "fields"
  private val Properties = "properties"

  override def read(json: JsonValue): StatisticsFile = StatisticsFile(
    snapshotId(json),
    json(StatisticsPath).string,
    json(FileSize).long,
    json(FooterSize).long,
    json.optional(KeyMetadata).map(_.string),
    json(Blobs).elements.map(blob)
  )

  override def write(f: StatisticsFile, out: JsonGenerator): Unit = {
    out.writeStartObject()
    out.writeNumberField(SnapshotId, f.snapshotId)
    out.writeStringField(StatisticsPath, f.statisticsPath)
    out.writeNumberField(FileSize, f.fileSizeInBytes)
    out.writeNumberField(FooterSize, f.fileFooterSizeInBytes)
    f.keyMetadata.foreach(out.writeStringField(KeyMetadata, _))
    JsonFormat.writeArray(out, Blobs, f.blobMetadata)(writeBlob(_, out))
    out.writeEndObject()
  }

  /** Reads a snapshot id. It is a number, or a string as in an earlier version of the specification. */
  private[json] def snapshotId(json: JsonValue): Long = {
    val id = json(SnapshotId)
    if (id.isText) Try(id.string.toLong).getOrElse(id.fail(s"Not a snapshot id: ${id.string}")) else id.long
  }

  private[json] def blob(json: JsonValue): BlobMetadata = BlobMetadata(
    json(BlobType).string,
    json(SnapshotId).long,
    json(SequenceNumber).long,
    json(Fields).elements.map(_.int),
    json.stringsOf(Properties)
  )

  private def writeBlob(b: BlobMetadata, out: JsonGenerator): Unit = {
    out.writeStartObject()
    writeSource(b, out)
    writeProperties(b, out)
    out.writeEndObject()
  }

  /**
   * Writes the keys of a blob's metadata that are the same in table metadata and Puffin footers. The properties of the
   * blob are not written.
   */
  private[json] def writeSource(b: BlobMetadata, out: JsonGenerator): Unit = {
    out.writeStringField(BlobType, b.blobType)
    out.writeNumberField(SnapshotId, b.snapshotId)
    out.writeNumberField(SequenceNumber, b.sequenceNumber)
    JsonFormat.writeArray(out, Fields, b.fields)(id => out.writeNumber(id))
  }

  private[json] def writeProperties(b: BlobMetadata, out: JsonGenerator): Unit =
    if (b.properties.nonEmpty) JsonFormat.writeStrings(out, Properties, b.properties)
}

/** The JSON form of a partition statistics file in the table metadata (spec: "Partition Statistics"). */
object PartitionStatisticsJson extends JsonFormat[PartitionStatisticsFile] {
  import StatisticsJson.{FileSize, SnapshotId, StatisticsPath}

  override def read(json: JsonValue): PartitionStatisticsFile =
    PartitionStatisticsFile(StatisticsJson.snapshotId(json), json(StatisticsPath).string, json(FileSize).long)

  override def write(f: PartitionStatisticsFile, out: JsonGenerator): Unit = {
    out.writeStartObject()
    out.writeNumberField(SnapshotId, f.snapshotId)
    out.writeStringField(StatisticsPath, f.statisticsPath)
    out.writeNumberField(FileSize, f.fileSizeInBytes)
    out.writeEndObject()
  }
}
