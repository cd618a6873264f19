package iceberglite.spec.json

import com.fasterxml.jackson.core.JsonGenerator

import iceberglite.spec.IcebergError.Unsupported
import iceberglite.spec.view.{ViewLogEntry, ViewMetadata}

/**
 * The JSON form of a view metadata file (view spec: "View Metadata").
 *
 * In an early form of the specification (view spec: "Appendix A"), the schema id, the default catalog and the default
 * namespace belong to the representations of a version instead of the version itself. These values are read from the
 * version or, if the version lacks them, from its representations. They are written to the version and to its
 * representations. The names and comments of columns are in the schema and, for readers of the early form, also in the
 * representations.
 */
object ViewMetadataJson extends JsonFormat[ViewMetadata] {
  private val Uuid = "view-uuid"
  private val Version = "format-version"
  private val Location = "location"
  private val Schemas = "schemas"
  private val CurrentVersionId = "current-version-id"
  private val Versions = "versions"
  private val VersionLog = "version-log"
  private val Properties = "properties"
  private val TimestampMs = "timestamp-ms"
  private val VersionId = "version-id"

  /** A key that exists only in the early form of the specification. It is also written. */
  private val CurrentSchemaId = "current-schema-id"

  override def read(json: JsonValue): ViewMetadata = {
    checkVersion(json(Version))
    val listed = json.mapOf(Schemas)(SchemaJson.read)
    json.requireUnique(listed.map(_.schemaId))(id => s"Two schemas have the id $id")
    val (schemas, versions) = ViewVersionJson.readAll(json(Versions), listed, json.optionalInt(CurrentSchemaId))
    val current = json.int(CurrentVersionId)
    json(Versions).requireUnique(versions.map(_.versionId))(id => s"Two versions have the id $id")
    val version = versions.find(_.versionId == current).getOrElse(json(CurrentVersionId).fail(
      s"No version has the id $current, only ${versions.map(_.versionId).mkString(", ")}"
    ))
    if (!schemas.exists(_.schemaId == version.schemaId)) {
      json(Versions).fail(s"Version $current has the schema id ${version.schemaId}, but the view has no such schema")
    }
    ViewMetadata(
      json.optional(Uuid).map(_.uuid),
      json.string(Location),
      schemas,
      current,
      versions,
      json(VersionLog).map(e => ViewLogEntry(e.long(TimestampMs), e.int(VersionId))),
      json.stringsOf(Properties)
    )
  }

  private def checkVersion(json: JsonValue): Unit =
    if (json.int > ViewMetadata.FormatNumber) throw Unsupported(
      s"view format version ${json.int} in ${json.source}",
      s"This release supports version ${ViewMetadata.FormatNumber}; use a later release for this view"
    )
    else if (json.int < ViewMetadata.FormatNumber) json.fail(s"There is no view format version ${json.int}")

  override def write(view: ViewMetadata, out: JsonGenerator): Unit = {
    out.writeStartObject()
    view.uuid.foreach(uuid => out.writeStringField(Uuid, uuid.toString))
    out.writeNumberField(Version, ViewMetadata.FormatNumber)
    out.writeStringField(Location, view.location)
    if (view.properties.nonEmpty) JsonFormat.writeStrings(out, Properties, view.properties)
    JsonFormat.writeArray(out, Schemas, view.schemas)(SchemaJson.write(_, out))
    view.versionsById.get(view.currentVersionId).foreach(v => out.writeNumberField(CurrentSchemaId, v.schemaId))
    out.writeNumberField(CurrentVersionId, view.currentVersionId)
    JsonFormat.writeArray(out, Versions, view.versions)(v =>
      ViewVersionJson.write(v, view.schemasById.get(v.schemaId), out)
    )
    JsonFormat.writeArray(out, VersionLog, view.versionLog) { e =>
      out.writeStartObject()
      out.writeNumberField(TimestampMs, e.timestampMs)
      out.writeNumberField(VersionId, e.versionId)
      out.writeEndObject()
    }
    out.writeEndObject()
  }
}
