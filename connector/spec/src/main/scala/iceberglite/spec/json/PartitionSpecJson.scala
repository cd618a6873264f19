package iceberglite.spec.json

import com.fasterxml.jackson.core.JsonGenerator

import iceberglite.spec.partition.{PartitionField, PartitionSpec, TableExpression}

/** The JSON form of a partition spec (spec: "Appendix C - Partition Specs"). */
object PartitionSpecJson extends JsonFormat[PartitionSpec] {
  private val SpecId = "spec-id"
  private val Fields = "fields"
  private val FieldId = "field-id"
  private val Name = "name"

  override def read(json: JsonValue): PartitionSpec = PartitionSpec(json(SpecId).int, readFields(json(Fields)))

  /** Reads a partition spec that may lack the spec id, because the table has not assigned the id yet. */
  private[json] def readUnassigned(json: JsonValue): PartitionSpec =
    PartitionSpec(json.optionalInt(SpecId).getOrElse(PartitionSpec.Unpartitioned.specId), readFields(json(Fields)))

  override def write(spec: PartitionSpec, out: JsonGenerator): Unit = write(spec, Vector.empty, out)

  /** Writes a partition spec. Fields with an expression (version 4) also have the id of the expression. */
  private[json] def write(spec: PartitionSpec, expressions: Vector[TableExpression], out: JsonGenerator): Unit = {
    out.writeStartObject()
    out.writeNumberField(SpecId, spec.specId)
    out.writeFieldName(Fields)
    writeFields(spec, expressions, out)
    out.writeEndObject()
  }

  /**
   * Reads a list of fields, as in `partition-spec` of version 1. If the fields have no ids, they get sequential ids
   * that start at 1000.
   */
  private[json] def readFields(json: JsonValue): Vector[PartitionField] = {
    val fields = json.elements.zipWithIndex.map { case (field, i) =>
      PartitionField(
        SourceJson.ids(field),
        field.optionalInt(FieldId).getOrElse(PartitionSpec.FirstFieldId + i),
        field.string(Name),
        SourceJson.transform(field)
      )
    }
    val withId = json.elements.count(_.has(FieldId))
    if (withId != 0 && withId != fields.size) json.fail(s"Only $withId of ${fields.size} fields have a $FieldId")
    json.requireUnique(fields.map(_.fieldId))(id => s"Two partition fields have the id $id")
    json.requireUnique(fields.map(_.name))(name => s"Two partition fields have the name $name")
    fields
  }

  private[json] def writeFields(
      spec: PartitionSpec,
      expressions: Vector[TableExpression],
      out: JsonGenerator
  ): Unit = {
    out.writeStartArray()
    spec.fields.foreach { f =>
      out.writeStartObject()
      expressions.find(_.isOf(f)).foreach(e => out.writeNumberField(TableExpressionJson.Id, e.id))
      SourceJson.writeIds(f.sourceIds, out)
      out.writeNumberField(FieldId, f.fieldId)
      out.writeStringField(Name, f.name)
      SourceJson.writeTransform(f.transform, out)
      out.writeEndObject()
    }
    out.writeEndArray()
  }

  /** Returns the fields as a list, which is the form of `partition-spec` in manifests. */
  def fieldsToJson(spec: PartitionSpec): String = JsonFormat.text(writeFields(spec, Vector.empty, _))
}
