package iceberglite.spec.json

import com.fasterxml.jackson.core.JsonGenerator

import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{DefaultValue, NestedField}

/** The JSON form of a schema (spec: "Appendix C - Schemas"). */
object SchemaJson extends JsonFormat[Schema] {
  private val SchemaId = "schema-id"
  private val IdentifierFieldIds = "identifier-field-ids"
  private val Fields = "fields"
  private val Id = "id"
  private val Name = "name"
  private val Required = "required"
  private val FieldType = "type"
  private val Doc = "doc"
  private val InitialDefault = "initial-default"
  private val WriteDefault = "write-default"

  /** The id of a schema without `schema-id`, as in a version 1 table without a list of schemas. */
  private val DefaultSchemaId = 0

  override def read(json: JsonValue): Schema = {
    val schema = Schema(
      json.optional(SchemaId).fold(DefaultSchemaId)(_.int),
      fields(json),
      json.elementsOf(IdentifierFieldIds).map(_.int).toSet
    )
    val ids = Schema.fieldsOf(schema.asStruct).map(_.id)
    ids.diff(ids.distinct).headOption.foreach(id => json.fail(s"Two fields have the id $id"))
    ids.find(_ > Schema.MaxFieldId).foreach { id =>
      json.fail(s"A field has the reserved id $id; the highest allowed id is ${Schema.MaxFieldId}")
    }
    schema
  }

  override def write(schema: Schema, out: JsonGenerator): Unit = {
    out.writeStartObject()
    out.writeStringField(FieldType, "struct")
    out.writeNumberField(SchemaId, schema.schemaId)
    if (schema.identifierFieldIds.nonEmpty) {
      val ids = schema.identifierFieldIds.toVector.sorted
      JsonFormat.writeArray(out, IdentifierFieldIds, ids)(id => out.writeNumber(id))
    }
    writeFields(schema.fields, out)
    out.writeEndObject()
  }

  private[json] def fields(struct: JsonValue): Vector[NestedField] = struct(Fields).elements.map(field)

  private[json] def writeFields(fields: Vector[NestedField], out: JsonGenerator): Unit =
    JsonFormat.writeArray(out, Fields, fields)(writeField(_, out))

  private def field(json: JsonValue): NestedField = {
    val id = json(Id).int
    if (id > Schema.MaxFieldId) json(Id).fail(s"The id $id is reserved; the highest allowed id is ${Schema.MaxFieldId}")
    val fieldType = TypeJson.read(json(FieldType))
    NestedField(
      id,
      json(Name).string,
      fieldType,
      json(Required).boolean,
      json.optional(Doc).map(_.string),
      json.optional(InitialDefault).map(SingleValueJson.readDefault(_, fieldType)),
      json.optional(WriteDefault).map(SingleValueJson.readDefault(_, fieldType))
    )
  }

  private def writeField(field: NestedField, out: JsonGenerator): Unit = {
    out.writeStartObject()
    out.writeNumberField(Id, field.id)
    out.writeStringField(Name, field.name)
    out.writeBooleanField(Required, field.required)
    out.writeFieldName(FieldType)
    TypeJson.write(field.fieldType, out)
    field.doc.foreach(out.writeStringField(Doc, _))
    writeDefault(InitialDefault, field.initialDefault, out)
    writeDefault(WriteDefault, field.writeDefault, out)
    out.writeEndObject()
  }

  private def writeDefault(key: String, value: Option[DefaultValue], out: JsonGenerator): Unit = value.foreach { v =>
    out.writeFieldName(key)
    SingleValueJson.writeDefault(v, out)
  }
}
