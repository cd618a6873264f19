package iceberglite.spec.json

import com.fasterxml.jackson.core.JsonGenerator

import iceberglite.spec.partition.{PartitionField, PartitionSpec, TableExpression}

/** The JSON form of a partition spec (spec: "Appendix C - Partition Specs"). */
object PartitionSpecJson extends JsonFormat[PartitionSpec] {
  private val SpecId = "spec-id"
  private val Fields = "fields"
  private val FieldId = "field-id"
  private val Name = "name"

  override def read(json: JsonValue): PartitionSpec = read(json, Vector.empty)

  /** Reads a partition spec whose fields may refer to expressions (version 4) by their ids. */
  private[json] def read(json: JsonValue, expressions: Vector[TableExpression]): PartitionSpec =
    PartitionSpec(json(SpecId).int, readFields(json(Fields), expressions))

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
   *
   * @param expressions the expressions of the table (version 4). If a field has only the id of an expression, the
   *   expression determines the other values of the field
   */
  private[json] def readFields(
      json: JsonValue,
      expressions: Vector[TableExpression] = Vector.empty
  ): Vector[PartitionField] = {
    val fields = json.elements.zipWithIndex.map { case (field, i) =>
      if (isReference(field)) referenced(field, expressions)
      else PartitionField(
        SourceJson.ids(field),
        field.optionalInt(FieldId).getOrElse(PartitionSpec.FirstFieldId + i),
        field.string(Name),
        SourceJson.transform(field)
      )
    }
    val withId = json.elements.count(field => field.has(FieldId) || isReference(field))
    if (withId != 0 && withId != fields.size) json.fail(s"Only $withId of ${fields.size} fields have a $FieldId")
    json.requireUnique(fields.map(_.fieldId))(id => s"Two partition fields have the id $id")
    json.requireUnique(fields.map(_.name))(name => s"Two partition fields have the name $name")
    fields
  }

  private def isReference(field: JsonValue): Boolean = field.has(TableExpressionJson.Id) && !field.has(Name)

  private def referenced(field: JsonValue, expressions: Vector[TableExpression]): PartitionField = {
    val id = field(TableExpressionJson.Id).int
    val expression = expressions.find(_.id == id)
      .getOrElse(field.fail(s"The table has no expression $id, but a partition field refers to it"))
    val fieldId = expression.partitionFieldId
      .getOrElse(field.fail(s"The expression $id of a partition field has no id of a partition field"))
    PartitionField(expression.sourceIds, fieldId, expression.name, expression.transform)
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
