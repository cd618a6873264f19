package iceberglite.spec.json

import com.fasterxml.jackson.core.JsonGenerator

import iceberglite.spec.schema.{MappedField, NameMapping}

/** The JSON form of a name mapping (spec: "Appendix C - Name Mapping Serialization"). */
object NameMappingJson extends JsonFormat[NameMapping] {
  private val FieldId = "field-id"
  private val Names = "names"
  private val Fields = "fields"

  override def read(json: JsonValue): NameMapping = NameMapping(json.elements.map(field))

  override def write(mapping: NameMapping, out: JsonGenerator): Unit = {
    out.writeStartArray()
    mapping.fields.foreach(writeField(_, out))
    out.writeEndArray()
  }

  private def field(json: JsonValue): MappedField = MappedField(
    json(Names).elements.map(_.string),
    json.optional(FieldId).map(_.int),
    json.elementsOf(Fields).map(field)
  )

  private def writeField(field: MappedField, out: JsonGenerator): Unit = {
    out.writeStartObject()
    field.id.foreach(out.writeNumberField(FieldId, _))
    JsonFormat.writeArray(out, Names, field.names)(name => out.writeString(name))
    if (field.fields.nonEmpty) JsonFormat.writeArray(out, Fields, field.fields)(writeField(_, out))
    out.writeEndObject()
  }
}
