package iceberglite.tree.manifestlist

import java.io.ByteArrayOutputStream

import scala.collection.JavaConverters._

import org.apache.avro.file.DataFileWriter
import org.apache.avro.generic.{GenericData, GenericDatumWriter, GenericRecord}
import org.apache.avro.{Schema => AvroSchema}
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.conformance.ManifestRules
import iceberglite.spec.IcebergError.UnreadableFile
import iceberglite.spec.file.{ManifestContent, ManifestEntry, ManifestFile}
import iceberglite.spec.partition.{PartitionSpec, PartitionTuple}
import iceberglite.table.MemoryFileIO
import iceberglite.tree.manifestlist.ManifestSamples._

/** Tests reading manifests of other engines, whose Avro schemas differ from those that iceberg-lite writes. */
class ForeignManifestSuite extends AnyFunSuite {
  private val listed = ManifestFile(
    "m.avro",
    1L,
    0,
    ManifestContent.Data,
    5L,
    5L,
    7L,
    Some(1),
    Some(0),
    Some(0),
    Some(1L),
    Some(0L),
    Some(0L),
    None
  )

  private def read(avro: AvroSchema, record: GenericRecord): Vector[ManifestEntry] = {
    val out = new ByteArrayOutputStream
    val writer = new DataFileWriter[GenericRecord](new GenericDatumWriter[GenericRecord](avro)).create(avro, out)
    writer.append(record)
    writer.close()
    val io = new MemoryFileIO
    io.write("m.avro", out.toByteArray)
    Manifests.read(io, listed, Map(0 -> PartitionSpec.Unpartitioned), schema).toVector
  }

  private def record(avro: AvroSchema, values: (String, Any)*): GenericRecord = {
    val avroRecord = new GenericData.Record(avro)
    values.foreach { case (name, value) => avroRecord.put(name, value) }
    avroRecord
  }

  private def entrySchema(fileFields: String, entryFields: String = "", pathType: String = "\"string\""): AvroSchema =
    new AvroSchema.Parser().parse(
      s"""{"type":"record","name":"any","fields":[$entryFields
         |{"name":"file","field-id":2,"type":{"type":"record","name":"f","fields":[$fileFields
         |  {"name":"size","type":"int","field-id":104},{"name":"rows","type":["null","long"],"field-id":103},
         |  {"name":"format","type":"string","field-id":101},{"name":"path","type":$pathType,"field-id":100}]}},
         |{"name":"what","type":"int","field-id":0}]}""".stripMargin
    )

  private def file(avro: AvroSchema, more: (String, Any)*): GenericRecord = record(
    avro.getField("file").schema,
    Seq("size" -> 5, "rows" -> 8L, "format" -> "Parquet", "path" -> "/t/a.parquet") ++ more: _*
  )

  test(
    "fields may have any names, order and unions, and the partition of an unpartitioned table may be missing",
    ManifestRules.fieldsById,
    ManifestRules.formatWithoutCase
  ) {
    val avro = entrySchema("")
    val entry = read(avro, record(avro, "file" -> file(avro), "what" -> 1)).head
    assert(entry.file.path == "/t/a.parquet" && entry.file.recordCount == 8L && entry.file.fileSizeInBytes == 5L)
    assert(entry.file.partition == PartitionTuple.Empty && entry.sequenceNumber.contains(0L))
  }

  test("fields with unknown ids or without ids are skipped", ManifestRules.unknownFields) {
    val avro = entrySchema(
      """{"name":"a","type":{"type":"map","values":["null","int","string"]},"field-id":9001},
        |{"name":"b","type":{"type":"enum","name":"e","symbols":["X","Y"]},"field-id":9002},
        |{"name":"c","type":{"type":"array","items":{"type":"record","name":"q","fields":[
        |  {"name":"x","type":"double"},{"name":"y","type":"float"},{"name":"z","type":"boolean"}]}}},
        |{"name":"d","type":{"type":"fixed","name":"g","size":3},"field-id":9003},
        |{"name":"e","type":"null","field-id":9004},{"name":"h","type":"bytes"},""".stripMargin
    )
    val fields = avro.getField("file").schema
    val q = fields.getField("c").schema.getElementType
    val values = Seq[(String, Any)](
      "a" -> Map[String, Any]("k" -> 1, "l" -> "text").asJava,
      "b" -> new GenericData.EnumSymbol(fields.getField("b").schema, "Y"),
      "c" -> Seq(record(q, "x" -> 1.0, "y" -> 2.0f, "z" -> true)).asJava,
      "d" -> new GenericData.Fixed(fields.getField("d").schema, Array[Byte](1, 2, 3)),
      "h" -> bytes(1, 2, 3)
    )
    val entry = read(avro, record(avro, "file" -> file(avro, values: _*), "what" -> 1)).head
    assert(entry.file.path == "/t/a.parquet")
  }

  test("metrics maps with optional values are read, and null values are ignored", ManifestRules.metricsMaps) {
    val avro = entrySchema(
      """{"name":"v","field-id":109,"type":["null",{"type":"array","items":{"type":"record","name":"kv","fields":[
        |  {"name":"key","type":"int","field-id":119},{"name":"value","type":["null","long"],"field-id":120}]}}]},
        |{"name":"l","field-id":125,"type":{"type":"array","items":{"type":"record","name":"kb","fields":[
        |  {"name":"value","type":"bytes","field-id":127},{"name":"key","type":"int","field-id":126}]}}},
        |{"name":"n","field-id":110,"type":{"type":"array","items":{"type":"record","name":"kn","fields":[
        |  {"name":"key","type":"int","field-id":121},{"name":"value","type":"long","field-id":122}]}}},""".stripMargin
    )
    val fields = avro.getField("file").schema
    val v = fields.getField("v").schema.getTypes.get(1).getElementType
    val l = fields.getField("l").schema.getElementType
    val n = fields.getField("n").schema.getElementType
    val metrics = read(
      avro,
      record(
        avro,
        "file" -> file(
          avro,
          "v" -> Seq(record(v, "key" -> 1, "value" -> 5L), record(v, "key" -> 2)).asJava,
          "l" -> Seq(record(l, "key" -> 1, "value" -> bytes(3))).asJava,
          "n" -> Seq(record(n, "key" -> 1, "value" -> 2L)).asJava
        ),
        "what" -> 1
      )
    ).head.file.metrics
    assert(metrics.valueCounts.contains(Map(1 -> 5L)) && metrics.lowerBounds.contains(Map(1 -> bytes(3))))
    assert(metrics.nullValueCount(1).contains(2L) && metrics.upperBounds.isEmpty)
  }

  test("the error for a required field that is null or has a wrong type contains the field id", ManifestRules.damaged) {
    val avro = entrySchema("")
    val withNullCount = file(avro)
    withNullCount.put("rows", null)
    val isNull = intercept[UnreadableFile](read(avro, record(avro, "file" -> withNullCount, "what" -> 1)))
    assert(isNull.reason.contains("record_count (field 103)"))
    val wrong = entrySchema("", pathType = "\"long\"")
    val withWrongPath =
      record(wrong.getField("file").schema, "size" -> 5, "rows" -> 8L, "format" -> "orc", "path" -> 7L)
    val isLong = intercept[UnreadableFile](read(wrong, record(wrong, "file" -> withWrongPath, "what" -> 1)))
    assert(isLong.reason.contains("field file_path (100)"))
  }

  test(
    "an existing file without sequence number is rejected, because it is unclear which deletes apply to it",
    ManifestRules.inheritsNumbers,
    ManifestRules.explicitNumbers
  ) {
    val avro = entrySchema("", """{"name":"s","type":["null","long"],"field-id":3},""")
    val error = intercept[UnreadableFile](read(avro, record(avro, "file" -> file(avro), "what" -> 0)))
    assert(error.reason.contains("/t/a.parquet has no sequence number"))
    assert(read(avro, record(avro, "file" -> file(avro), "what" -> 2)).head.sequenceNumber.isEmpty)
  }

  test("the errors for an unknown status and an unknown file format contain the value", ManifestRules.damaged) {
    val avro = entrySchema("")
    val status = intercept[UnreadableFile](read(avro, record(avro, "file" -> file(avro), "what" -> 9)))
    assert(status.reason.contains("unknown status 9"))
    val ofLance = record(avro, "file" -> file(avro, "format" -> "lance"), "what" -> 1)
    val lance = intercept[UnreadableFile](read(avro, ofLance))
    assert(lance.reason.contains("unknown format lance"))
  }
}
