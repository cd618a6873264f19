package iceberglite.data.avro

import iceberglite.avro.{AvroCodec, AvroContainerWriter, AvroSchemas}
import iceberglite.data.Record
import iceberglite.spec.schema.Schema
import iceberglite.storage.FileIO

/** Writes Avro files without Iceberg field ids. */
object AvroWithoutIds {
  def write(io: FileIO, path: String, schema: Schema, rows: Seq[Record]): Unit = {
    val json =
      AvroSchemas.of(schema.asStruct, "table").toString.replaceAll(""","(field|element|key|value)-id":\d+""", "")
    val fields = AvroSinks.ofFields(schema.fields)
    val container = new AvroContainerWriter(json, Seq.empty, AvroCodec.Default)
    rows.foreach(row => container.add(fields.put(row.values, _)))
    io.write(path, container.finish())
  }
}
