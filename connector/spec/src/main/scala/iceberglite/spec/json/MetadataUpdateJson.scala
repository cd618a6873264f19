package iceberglite.spec.json

import com.fasterxml.jackson.core.JsonGenerator

import iceberglite.spec.IcebergError.Unsupported
import iceberglite.spec.json.{UpdateKey => Key}
import iceberglite.spec.update.{MetadataUpdate, ViewUpdate}
import iceberglite.spec.update.MetadataUpdate._
import iceberglite.spec.update.ViewUpdate._

/**
 * The JSON form of a metadata update of a table in the REST catalog specification, such as
 * `{"action":"set-location","location":...}`.
 */
object MetadataUpdateJson extends JsonFormat[MetadataUpdate] {

  override def read(json: JsonValue): MetadataUpdate = {
    val action = json(Key.Action)
    SharedUpdates.read(json, action.lowerCase).getOrElse(readTableUpdate(json, action))
  }

  private def readTableUpdate(json: JsonValue, action: JsonValue): MetadataUpdate = action.lowerCase match {
    case "set-current-schema" => SetCurrentSchema(json.int(Key.SchemaId))
    case "add-spec" => AddPartitionSpec(PartitionSpecJson.readUnassigned(json(Key.Spec)))
    case "set-default-spec" => SetDefaultSpec(json.int(Key.SpecId))
    case "remove-partition-specs" => RemovePartitionSpecs(json(Key.SpecIds).map(_.int).toSet)
    case "remove-schemas" => RemoveSchemas(json(Key.SchemaIds).map(_.int).toSet)
    case "add-sort-order" => AddSortOrder(SortOrderJson.read(json(Key.SortOrder)))
    case "set-default-sort-order" => SetDefaultSortOrder(json.int(Key.SortOrderId))
    case "add-snapshot" => AddSnapshot(SnapshotJson.read(json(Key.Snapshot)))
    case "remove-snapshots" => RemoveSnapshots(json(Key.SnapshotIds).map(_.long).toSet)
    case "set-snapshot-ref" =>
      val name = json.string(Key.RefName)
      SetSnapshotRef(name, SnapshotRefJson.readChecked(name, json))
    case "remove-snapshot-ref" => RemoveSnapshotRef(json.string(Key.RefName))
    // The deprecated key snapshot-id of this update is ignored, because the value of the key statistics contains the
    // snapshot id.
    case "set-statistics" => SetStatistics(StatisticsJson.read(json(Key.Statistics)))
    case "remove-statistics" => RemoveStatistics(json.long(Key.SnapshotId))
    case "set-partition-statistics" =>
      SetPartitionStatistics(PartitionStatisticsJson.read(json(Key.PartitionStatistics)))
    case "remove-partition-statistics" => RemovePartitionStatistics(json.long(Key.SnapshotId))
    case "add-encryption-key" => AddEncryptionKey(EncryptionKeyJson.read(json(Key.EncryptionKey)))
    case "remove-encryption-key" => RemoveEncryptionKey(json.string(Key.KeyId))
    case other => action.fail(s"Unknown update of a table: $other")
  }

  override def write(update: MetadataUpdate, out: JsonGenerator): Unit = {
    out.writeStartObject()
    update match {
      case shared: ViewUpdate => SharedUpdates.write(shared, out)
      case SetCurrentSchema(id) => writeNumber(out, "set-current-schema", Key.SchemaId, id.toLong)
      case AddPartitionSpec(spec) => writePart(out, "add-spec", Key.Spec)(PartitionSpecJson.write(spec, out))
      case SetDefaultSpec(id) => writeNumber(out, "set-default-spec", Key.SpecId, id.toLong)
      case RemovePartitionSpecs(ids) => writeNumbers(out, "remove-partition-specs", Key.SpecIds, ids.map(_.toLong))
      case RemoveSchemas(ids) => writeNumbers(out, "remove-schemas", Key.SchemaIds, ids.map(_.toLong))
      case AddSortOrder(order) => writePart(out, "add-sort-order", Key.SortOrder)(SortOrderJson.write(order, out))
      case SetDefaultSortOrder(id) => writeNumber(out, "set-default-sort-order", Key.SortOrderId, id.toLong)
      case AddSnapshot(snapshot) => writePart(out, "add-snapshot", Key.Snapshot)(SnapshotJson.write(snapshot, out))
      case RemoveSnapshots(ids) => writeNumbers(out, "remove-snapshots", Key.SnapshotIds, ids)
      case SetSnapshotRef(name, ref) =>
        writeText(out, "set-snapshot-ref", Key.RefName, name)
        SnapshotRefJson.writeFields(ref, out)
      case RemoveSnapshotRef(name) => writeText(out, "remove-snapshot-ref", Key.RefName, name)
      case SetStatistics(file) =>
        writeNumber(out, "set-statistics", Key.SnapshotId, file.snapshotId)
        out.writeFieldName(Key.Statistics)
        StatisticsJson.write(file, out)
      case RemoveStatistics(id) => writeNumber(out, "remove-statistics", Key.SnapshotId, id)
      case SetPartitionStatistics(file) =>
        writePart(out, "set-partition-statistics", Key.PartitionStatistics)(PartitionStatisticsJson.write(file, out))
      case RemovePartitionStatistics(id) => writeNumber(out, "remove-partition-statistics", Key.SnapshotId, id)
      case AddEncryptionKey(key) =>
        writePart(out, "add-encryption-key", Key.EncryptionKey)(EncryptionKeyJson.write(key, out))
      case RemoveEncryptionKey(id) => writeText(out, "remove-encryption-key", Key.KeyId, id)
      case AddExpression(_, _, _) | CopyExpressions(_) | RemoveExpression(_) =>
        throw Unsupported("a change of expressions in a REST catalog", "Use a catalog of another type")
    }
    out.writeEndObject()
  }

  private[json] def writeNumber(out: JsonGenerator, action: String, key: String, value: Long): Unit = {
    out.writeStringField(Key.Action, action)
    out.writeNumberField(key, value)
  }

  private def writeNumbers(out: JsonGenerator, action: String, key: String, values: Set[Long]): Unit = {
    out.writeStringField(Key.Action, action)
    JsonFormat.writeArray(out, key, values.toVector.sorted)(id => out.writeNumber(id))
  }

  private[json] def writeText(out: JsonGenerator, action: String, key: String, value: String): Unit = {
    out.writeStringField(Key.Action, action)
    out.writeStringField(key, value)
  }

  private[json] def writePart(out: JsonGenerator, action: String, key: String)(write: => Unit): Unit = {
    out.writeStringField(Key.Action, action)
    out.writeFieldName(key)
    write
  }
}

/** The JSON form of a metadata update of a view in the REST catalog specification. */
object ViewUpdateJson extends JsonFormat[ViewUpdate] {

  override def read(json: JsonValue): ViewUpdate = {
    val action = json(Key.Action)
    SharedUpdates.read(json, action.lowerCase).getOrElse(action.lowerCase match {
      case SharedUpdates.AddVersion => AddViewVersion(ViewVersionJson.read(json(Key.ViewVersion)))
      case SharedUpdates.SetCurrentVersion => SetCurrentViewVersion(json.int(Key.ViewVersionId))
      case other => action.fail(s"Unknown update of a view: $other")
    })
  }

  override def write(update: ViewUpdate, out: JsonGenerator): Unit = {
    out.writeStartObject()
    SharedUpdates.write(update, out)
    out.writeEndObject()
  }
}
