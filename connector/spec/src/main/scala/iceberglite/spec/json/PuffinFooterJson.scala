package iceberglite.spec.json

import com.fasterxml.jackson.core.JsonGenerator

import iceberglite.spec.metadata.{PuffinBlob, PuffinFooter}

/** The JSON payload of the footer of a Puffin file (see the Puffin specification). */
object PuffinFooterJson extends JsonFormat[PuffinFooter] {
  private val Blobs = "blobs"
  private val Offset = "offset"
  private val Length = "length"
  private val Codec = "compression-codec"
  private val Properties = "properties"

  override def read(json: JsonValue): PuffinFooter =
    PuffinFooter(json(Blobs).elements.map(blob), json.stringsOf(Properties))

  override def write(footer: PuffinFooter, out: JsonGenerator): Unit = {
    out.writeStartObject()
    JsonFormat.writeArray(out, Blobs, footer.blobs)(writeBlob(_, out))
    if (footer.properties.nonEmpty) JsonFormat.writeStrings(out, Properties, footer.properties)
    out.writeEndObject()
  }

  private def blob(json: JsonValue): PuffinBlob = PuffinBlob(
    StatisticsJson.blob(json),
    json.count(Offset),
    json.count(Length),
    json.optional(Codec).map(_.string)
  )

  private def writeBlob(b: PuffinBlob, out: JsonGenerator): Unit = {
    out.writeStartObject()
    StatisticsJson.writeSource(b.metadata, out)
    out.writeNumberField(Offset, b.offset)
    out.writeNumberField(Length, b.length)
    b.compressionCodec.foreach(out.writeStringField(Codec, _))
    StatisticsJson.writeProperties(b.metadata, out)
    out.writeEndObject()
  }
}
