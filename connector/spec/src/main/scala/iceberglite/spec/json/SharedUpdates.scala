package iceberglite.spec.json

import com.fasterxml.jackson.core.JsonGenerator

import iceberglite.spec.FormatVersion
import iceberglite.spec.IcebergError.Unsupported
import iceberglite.spec.json.{UpdateKey => Key}
import iceberglite.spec.json.MetadataUpdateJson.{number, part, text}
import iceberglite.spec.update.ViewUpdate
import iceberglite.spec.update.MetadataUpdate._
import iceberglite.spec.update.ViewUpdate._

/** The keys of updates. */
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

  /** The former keys, which Apache Iceberg wrote before the REST specification and still reads. */
  val OldUpdates = "updated"
  val OldRemovals = "removed"
}

/** Reads the updates that tables and views have in common, and writes these and all other updates of views. */
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

  /** Reads an update; `None` for an action that is not shared. */
  def read(json: JsonValue, action: String): Option[Shared] = action match {
    case Assign => Some(AssignUuid(json(Key.Uuid).uuid))
    case Upgrade => Some(UpgradeFormatVersion(version(json(Key.Version))))
    case Add =>
      val schema = SchemaJson.read(json(Key.Schema))
      // The field is deprecated, because the schema determines its value.
      Some(AddSchema(schema, json.optionalInt(Key.LastColumnId).getOrElse(schema.highestFieldId)))
    case Location => Some(SetLocation(json.string(Key.Location)))
    case Set => Some(SetProperties(json.stringsOf(presentKey(json, Key.Updates, Key.OldUpdates))))
    case Remove => Some(RemoveProperties(json(presentKey(json, Key.Removals, Key.OldRemovals)).map(_.string).toSet))
    case _ => None
  }

  private def version(json: JsonValue): FormatVersion = FormatVersion.all.find(_.number == json.int).getOrElse {
    if (json.int < FormatVersion.all.head.number) json.fail(s"There is no version ${json.int}")
    throw Unsupported(
      s"an upgrade to format version ${json.int}",
      s"This release supports versions ${FormatVersion.all.mkString(", ")}"
    )
  }

  /** Returns the present key: a required key or its former name. */
  private def presentKey(json: JsonValue, key: String, old: String): String = {
    if (!json.has(key) && !json.has(old)) json(key)
    if (json.has(key)) key else old
  }

  def write(update: ViewUpdate, out: JsonGenerator): Unit = update match {
    case AssignUuid(uuid) => text(out, Assign, Key.Uuid, uuid.toString)
    case UpgradeFormatVersion(version) => number(out, Upgrade, Key.Version, version.number.toLong)
    case AddSchema(schema, lastColumnId) =>
      part(out, Add, Key.Schema)(SchemaJson.write(schema, out))
      out.writeNumberField(Key.LastColumnId, lastColumnId)
    case SetLocation(location) => text(out, Location, Key.Location, location)
    case SetProperties(properties) =>
      out.writeStringField(Key.Action, Set)
      JsonFormat.strings(out, Key.Updates, properties)
    case RemoveProperties(keys) =>
      out.writeStringField(Key.Action, Remove)
      JsonFormat.array(out, Key.Removals, keys.toVector.sorted)(key => out.writeString(key))
    case AddViewVersion(version) =>
      part(out, AddVersion, Key.ViewVersion)(ViewVersionJson.write(version, out))
    case SetCurrentViewVersion(id) => number(out, SetCurrentVersion, Key.ViewVersionId, id.toLong)
  }
}
