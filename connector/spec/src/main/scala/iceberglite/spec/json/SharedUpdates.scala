package iceberglite.spec.json

import com.fasterxml.jackson.core.JsonGenerator

import iceberglite.spec.FormatVersion
import iceberglite.spec.IcebergError.Unsupported
import iceberglite.spec.json.{UpdateKey => Key}
import iceberglite.spec.json.MetadataUpdateJson.{writeNumber, writePart, writeText}
import iceberglite.spec.update.ViewUpdate
import iceberglite.spec.update.MetadataUpdate._
import iceberglite.spec.update.ViewUpdate._

/** The keys of metadata updates. */
private[json] object UpdateKey {
  val Action = "action"
  val Uuid = "uuid"
  val Version = "format-version"
  val Schema = "schema"
  val LastColumnId = "last-column-id"
  val SchemaId = "schema-id"
  val SchemaIds = "schema-ids"
  val Spec = "spec"
  val SpecId = "spec-id"
  val SpecIds = "spec-ids"
  val SortOrder = "sort-order"
  val SortOrderId = "sort-order-id"
  val Snapshot = "snapshot"
  val SnapshotId = "snapshot-id"
  val SnapshotIds = "snapshot-ids"
  val RefName = "ref-name"
  val Statistics = "statistics"
  val PartitionStatistics = "partition-statistics"
  val EncryptionKey = "encryption-key"
  val KeyId = "key-id"
  val Location = "location"
  val Updates = "updates"
  val Removals = "removals"
  val ViewVersion = "view-version"
  val ViewVersionId = "view-version-id"

  // Former keys, which Apache Iceberg wrote before the REST specification existed, and still reads.
  val OldUpdates = "updated"
  val OldRemovals = "removed"
}

/** Reads the updates that apply to both tables and views. Writes these updates, and all other updates of views. */
private[json] object SharedUpdates {
  private val Assign = "assign-uuid"
  private val Upgrade = "upgrade-format-version"
  private val Add = "add-schema"
  private val Location = "set-location"
  private val Set = "set-properties"
  private val Remove = "remove-properties"
  val AddVersion = "add-view-version"
  val SetCurrentVersion = "set-current-view-version"

  type Shared = iceberglite.spec.update.MetadataUpdate with ViewUpdate

  /** Reads an update; `None` if the action does not apply to both tables and views. */
  def read(json: JsonValue, action: String): Option[Shared] = action match {
    case Assign => Some(AssignUuid(json(Key.Uuid).uuid))
    case Upgrade => Some(UpgradeFormatVersion(version(json(Key.Version))))
    case Add =>
      val schema = SchemaJson.read(json(Key.Schema))
      // The key last-column-id is deprecated, because the schema determines its value.
      Some(AddSchema(schema, json.optionalInt(Key.LastColumnId).getOrElse(schema.highestFieldId)))
    case Location => Some(SetLocation(json.string(Key.Location)))
    case Set => Some(SetProperties(json.stringsOf(presentKey(json, Key.Updates, Key.OldUpdates))))
    case Remove => Some(RemoveProperties(json(presentKey(json, Key.Removals, Key.OldRemovals)).map(_.string).toSet))
    case _ => None
  }

  private def version(json: JsonValue): FormatVersion = FormatVersion.all.find(_.number == json.int).getOrElse {
    if (json.int < FormatVersion.all.head.number) json.fail(s"There is no format version ${json.int}")
    throw Unsupported(
      s"an upgrade to format version ${json.int}",
      s"This release supports versions ${FormatVersion.all.mkString(", ")}"
    )
  }

  /** Returns the key or its former name, depending on which of the two the JSON contains. */
  private def presentKey(json: JsonValue, key: String, formerKey: String): String = {
    if (!json.has(key) && !json.has(formerKey)) json(key)
    if (json.has(key)) key else formerKey
  }

  def write(update: ViewUpdate, out: JsonGenerator): Unit = update match {
    case AssignUuid(uuid) => writeText(out, Assign, Key.Uuid, uuid.toString)
    case UpgradeFormatVersion(version) => writeNumber(out, Upgrade, Key.Version, version.number.toLong)
    case AddSchema(schema, lastColumnId) =>
      writePart(out, Add, Key.Schema)(SchemaJson.write(schema, out))
      out.writeNumberField(Key.LastColumnId, lastColumnId)
    case SetLocation(location) => writeText(out, Location, Key.Location, location)
    case SetProperties(properties) =>
      out.writeStringField(Key.Action, Set)
      JsonFormat.writeStrings(out, Key.Updates, properties)
    case RemoveProperties(keys) =>
      out.writeStringField(Key.Action, Remove)
      JsonFormat.writeArray(out, Key.Removals, keys.toVector.sorted)(key => out.writeString(key))
    case AddViewVersion(version) =>
      writePart(out, AddVersion, Key.ViewVersion)(ViewVersionJson.write(version, out))
    case SetCurrentViewVersion(id) => writeNumber(out, SetCurrentVersion, Key.ViewVersionId, id.toLong)
  }
}
