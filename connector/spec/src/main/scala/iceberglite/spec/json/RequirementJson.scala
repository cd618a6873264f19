package iceberglite.spec.json

import com.fasterxml.jackson.core.JsonGenerator

import iceberglite.spec.update.{Requirement, ViewRequirement}
import iceberglite.spec.update.Requirement._
import iceberglite.spec.update.ViewRequirement.AssertViewUuid

/**
 * The JSON form of a requirement of a table commit in the REST catalog specification, such as
 * `{"type":"assert-table-uuid","uuid":...}`.
 */
object RequirementJson extends JsonFormat[Requirement] {
  private val Create = "assert-create"
  private val TableUuid = "assert-table-uuid"
  private val RefSnapshotId = "assert-ref-snapshot-id"
  private val LastAssignedFieldId = "assert-last-assigned-field-id"
  private val CurrentSchemaId = "assert-current-schema-id"
  private val LastAssignedPartitionId = "assert-last-assigned-partition-id"
  private val DefaultSpecId = "assert-default-spec-id"
  private val DefaultSortOrderId = "assert-default-sort-order-id"

  private[json] val Type = "type"
  private[json] val Uuid = "uuid"
  private val Ref = "ref"
  private val SnapshotId = "snapshot-id"
  private val FieldId = "last-assigned-field-id"
  private val SchemaId = "current-schema-id"
  private val PartitionId = "last-assigned-partition-id"
  private val SpecId = "default-spec-id"
  private val OrderId = "default-sort-order-id"

  override def read(json: JsonValue): Requirement = json(Type).lowerCase match {
    case Create => AssertCreate
    case TableUuid => AssertTableUuid(json(Uuid).uuid)
    case RefSnapshotId => AssertRefSnapshotId(json.string(Ref), json.optionalLong(SnapshotId))
    case LastAssignedFieldId => AssertLastAssignedFieldId(json.int(FieldId))
    case CurrentSchemaId => AssertCurrentSchemaId(json.int(SchemaId))
    case LastAssignedPartitionId => AssertLastAssignedPartitionId(json.int(PartitionId))
    case DefaultSpecId => AssertDefaultSpecId(json.int(SpecId))
    case DefaultSortOrderId => AssertDefaultSortOrderId(json.int(OrderId))
    case other => json(Type).fail(s"Unknown requirement of a table: $other")
  }

  override def write(requirement: Requirement, out: JsonGenerator): Unit = {
    out.writeStartObject()
    requirement match {
      case AssertCreate => out.writeStringField(Type, Create)
      case AssertTableUuid(uuid) =>
        out.writeStringField(Type, TableUuid)
        out.writeStringField(Uuid, uuid.toString)
      case AssertRefSnapshotId(ref, snapshotId) =>
        out.writeStringField(Type, RefSnapshotId)
        out.writeStringField(Ref, ref)
        // If the snapshot id is absent, null is written, which means that the branch or tag must not exist.
        snapshotId.fold(out.writeNullField(SnapshotId))(out.writeNumberField(SnapshotId, _))
      case AssertLastAssignedFieldId(id) => writeId(out, LastAssignedFieldId, FieldId, id)
      case AssertCurrentSchemaId(id) => writeId(out, CurrentSchemaId, SchemaId, id)
      case AssertLastAssignedPartitionId(id) => writeId(out, LastAssignedPartitionId, PartitionId, id)
      case AssertDefaultSpecId(id) => writeId(out, DefaultSpecId, SpecId, id)
      case AssertDefaultSortOrderId(id) => writeId(out, DefaultSortOrderId, OrderId, id)
    }
    out.writeEndObject()
  }

  private def writeId(out: JsonGenerator, kind: String, key: String, id: Int): Unit = {
    out.writeStringField(Type, kind)
    out.writeNumberField(key, id)
  }
}

/** The JSON form of a requirement of a view commit in the REST catalog specification. */
object ViewRequirementJson extends JsonFormat[ViewRequirement] {
  import RequirementJson.{Type, Uuid}
  private val ViewUuid = "assert-view-uuid"

  override def read(json: JsonValue): ViewRequirement = json(Type).lowerCase match {
    case ViewUuid => AssertViewUuid(json(Uuid).uuid)
    case other => json(Type).fail(s"Unknown requirement of a view: $other")
  }

  override def write(requirement: ViewRequirement, out: JsonGenerator): Unit = requirement match {
    case AssertViewUuid(uuid) =>
      out.writeStartObject()
      out.writeStringField(Type, ViewUuid)
      out.writeStringField(Uuid, uuid.toString)
      out.writeEndObject()
  }
}
