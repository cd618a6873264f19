package iceberglite.spec.json

import com.fasterxml.jackson.core.JsonGenerator

import iceberglite.spec.FormatVersion
import iceberglite.spec.json.{TableMetadataKey => Key}
import iceberglite.spec.metadata.TableMetadata

/**
 * Writes the metadata of a table in the form of its format version. The keys have the same order as in Apache Iceberg.
 */
private[json] object TableMetadataWriter {

  def write(m: TableMetadata, out: JsonGenerator): Unit = {
    out.writeStartObject()
    writeTable(m, out)
    writeSchemas(m, out)
    writeSpecs(m, out)
    out.writeNumberField(Key.DefaultSortOrderId, m.defaultSortOrderId)
    JsonFormat.writeArray(out, Key.SortOrders, m.sortOrders)(SortOrderJson.write(_, out))
    JsonFormat.writeStrings(out, Key.Properties, storedProperties(m))
    writeCurrentSnapshot(m, out)
    if (m.formatVersion >= FormatVersion.V3) {
      out.writeNumberField(Key.NextRowId, m.nextRowId)
      if (m.encryptionKeys.nonEmpty) {
        JsonFormat.writeArray(out, Key.EncryptionKeys, m.encryptionKeys)(EncryptionKeyJson.write(_, out))
      }
    }
    writeRefs(m, out)
    out.writeFieldName(Key.Snapshots)
    SnapshotsWriter.write(m.snapshots, out)
    JsonFormat.writeArray(out, Key.Statistics, m.statistics)(StatisticsJson.write(_, out))
    JsonFormat.writeArray(out, Key.PartitionStatistics, m.partitionStatistics)(PartitionStatisticsJson.write(_, out))
    writeLogs(m, out)
    out.writeEndObject()
  }

  private def writeTable(m: TableMetadata, out: JsonGenerator): Unit = {
    out.writeNumberField(Key.Version, m.formatVersion.number)
    m.uuid.foreach(uuid => out.writeStringField(Key.Uuid, uuid.toString))
    out.writeStringField(Key.Location, m.location)
    if (m.formatVersion > FormatVersion.V1) out.writeNumberField(Key.LastSequenceNumber, m.lastSequenceNumber)
    out.writeNumberField(Key.LastUpdatedMs, m.lastUpdatedMs)
    out.writeNumberField(Key.LastColumnId, m.lastColumnId)
  }

  private def writeSchemas(m: TableMetadata, out: JsonGenerator): Unit = {
    if (m.formatVersion == FormatVersion.V1) {
      out.writeFieldName(Key.V1Schema)
      SchemaJson.write(m.schema, out)
    }
    out.writeNumberField(Key.CurrentSchemaId, m.currentSchemaId)
    JsonFormat.writeArray(out, Key.Schemas, m.schemas)(SchemaJson.write(_, out))
  }

  private def writeSpecs(m: TableMetadata, out: JsonGenerator): Unit = {
    if (m.formatVersion == FormatVersion.V1) {
      out.writeFieldName(Key.V1PartitionSpec)
      PartitionSpecJson.writeFields(m.spec, m.expressions, out)
    }
    out.writeNumberField(Key.DefaultSpecId, m.defaultSpecId)
    JsonFormat.writeArray(out, Key.Specs, m.specs)(PartitionSpecJson.write(_, m.expressions, out))
    out.writeNumberField(Key.LastPartitionId, m.lastPartitionId)
    if (m.formatVersion >= FormatVersion.V4) {
      JsonFormat.writeArray(out, Key.Expressions, m.expressions)(TableExpressionJson.write(_, out))
    }
  }

  private def storedProperties(m: TableMetadata): Map[String, String] =
    if (m.expressions.isEmpty) m.properties
    else m.properties + (Key.ExpressionsCopy -> TableExpressionJson.listToJson(m.expressions))

  /**
   * Writes the id of the current snapshot. If there is no current snapshot, writes -1 in versions 1 and 2, because
   * older readers expect this value.
   */
  private def writeCurrentSnapshot(m: TableMetadata, out: JsonGenerator): Unit = m.currentSnapshotId match {
    case Some(id) => out.writeNumberField(Key.CurrentSnapshotId, id)
    case None if m.formatVersion < FormatVersion.V3 => out.writeNumberField(Key.CurrentSnapshotId, Key.NoSnapshot)
    case None => ()
  }

  private def writeRefs(m: TableMetadata, out: JsonGenerator): Unit = {
    out.writeObjectFieldStart(Key.Refs)
    m.refs.toVector.sortBy(_._1).foreach { case (name, ref) =>
      out.writeFieldName(name)
      SnapshotRefJson.write(ref, out)
    }
    out.writeEndObject()
  }

  private def writeLogs(m: TableMetadata, out: JsonGenerator): Unit = {
    JsonFormat.writeArray(out, Key.SnapshotLog, m.snapshotLog) { e =>
      out.writeStartObject()
      out.writeNumberField(Key.TimestampMs, e.timestampMs)
      out.writeNumberField(Key.SnapshotId, e.snapshotId)
      out.writeEndObject()
    }
    JsonFormat.writeArray(out, Key.MetadataLog, m.metadataLog) { e =>
      out.writeStartObject()
      out.writeNumberField(Key.TimestampMs, e.timestampMs)
      out.writeStringField(Key.MetadataFile, e.metadataFile)
      out.writeEndObject()
    }
  }
}
