package iceberglite.data.avro

import java.io.File
import java.nio.ByteBuffer
import java.util.{Collections, UUID}

import scala.collection.JavaConverters._

import org.apache.avro.{Schema => AvroSchema}
import org.apache.avro.file.{CodecFactory, DataFileReader, DataFileWriter}
import org.apache.avro.generic.{GenericData, GenericDatumReader, GenericDatumWriter, GenericRecord}

import iceberglite.conformance.FormatRules
import iceberglite.data.{DataSource, FormatTests, Record}
import iceberglite.spec.IcebergError.UnreadableFile
import iceberglite.spec.schema.{MappedField, NameMapping, Schema}
import iceberglite.spec.types.Type
import iceberglite.spec.types.NestedField.{optional, required}
import iceberglite.spec.types.Type._

/** Tests reading and writing Avro files (specification, "Appendix A: Avro"). */
class AvroDataSuite extends FormatTests(AvroData) {

  /** Writes a file with Avro's own library, and returns its path. */
  private def avroFile(fields: String, codec: CodecFactory = CodecFactory.nullCodec)(
      rows: (AvroSchema => GenericRecord)*
  ): String = {
    val schema = new AvroSchema.Parser().parse(s"""{"type":"record","name":"other","fields":[$fields]}""")
    val path = newPath()
    val writer = new DataFileWriter[GenericRecord](new GenericDatumWriter[GenericRecord](schema)).setCodec(codec)
      .create(schema, new File(path))
    rows.foreach(row => writer.append(row(schema)))
    writer.close()
    path
  }

  private def row(values: Any*)(schema: AvroSchema): GenericRecord = {
    val record = new GenericData.Record(schema)
    values.zipWithIndex.foreach { case (v, i) => record.put(i, v) }
    record
  }

  private def projection(t: Type): StructType = StructType(Vector(optional(1, "c", t)))

  test(
    "a union may have null as its second type, or may have a single type that is not null; other unions are rejected",
    FormatRules.avroUnions
  ) {
    val path = avroFile("""{"name":"a","type":["int","null"],"field-id":1},{"name":"b","type":["string"],"field-id":2},
      {"name":"c","type":["int","string"],"field-id":3}""")(row(1, "x", 1), row(null, "y", "z"))
    val twoColumns = StructType(Vector(optional(1, "a", IntType), optional(2, "b", StringType)))
    assert(read(path, twoColumns) == Vector(Record.of(1, "x"), Record.of(null, "y")))
    val error = intercept[UnreadableFile](read(path, StructType(Vector(optional(3, "c", IntType)))))
    assert(error.getMessage.contains("Column c") && error.getMessage.contains("""["int","string"]"""))
  }

  test(
    "equivalent types of other writers are read as the column type",
    FormatRules.avroDecimals,
    FormatRules.promoted
  ) {
    val uuid = UUID.randomUUID
    def checkRead(json: String, value: Any, t: Type, expected: Any): Unit = {
      val path = avroFile(s"""{"name":"c","type":$json,"field-id":1}""")(row(value))
      assert(read(path, projection(t)) == Vector(Record.of(expected)), json)
    }
    checkRead("\"int\"", 5, LongType, 5L)
    checkRead("\"float\"", 1.5f, DoubleType, 1.5)
    checkRead("""{"type":"string","logicalType":"uuid"}""", uuid.toString, UuidType, uuid)
    val unscaled = ByteBuffer.wrap(Array[Byte](-1, 5))
    checkRead(
      """{"type":"bytes","logicalType":"decimal","precision":5,"scale":1}""",
      unscaled,
      DecimalType(5, 1),
      new java.math.BigDecimal("-25.1")
    )
    checkRead("""{"type":"int","logicalType":"time-millis"}""", 1500, TimeType, 1500000L)
    checkRead("""{"type":"long","logicalType":"timestamp-millis"}""", -1L, TimestampType, -1000L)
    checkRead("""{"type":"long","logicalType":"timestamp-micros"}""", -1L, TimestampTzType, -1L)
    checkRead("""{"type":"long","logicalType":"local-timestamp-micros"}""", 7L, TimestampType, 7L)
    checkRead("""{"type":"long","logicalType":"timestamp-micros"}""", 7L, TimestampNsType, 7000L)
    checkRead("\"long\"", 7L, TimestampType, 7L)
    checkRead("\"bytes\"", ByteBuffer.wrap(Array[Byte](1, 2)), FixedType(2), ByteBuffer.wrap(Array[Byte](1, 2)))
  }

  test(
    "the error for a value that the column type cannot represent contains the column's name",
    FormatRules.avroDamage
  ) {
    def assertRejected(json: String, value: Any, t: Type, expectedText: String): Unit = {
      val path = avroFile(s"""{"name":"c","type":$json,"field-id":1}""")(row(value))
      val message = intercept[UnreadableFile](read(path, projection(t))).getMessage
      assert(message.contains("Column c") && message.contains(expectedText) && message.contains(path))
    }
    assertRejected("\"bytes\"", ByteBuffer.wrap(Array[Byte](1, 2)), FixedType(3), "2 bytes")
    assertRejected("\"string\"", "no uuid", UuidType, "no uuid")
    val decimal = """{"type":"bytes","logicalType":"decimal","precision":5,"scale":1}"""
    assertRejected(decimal, ByteBuffer.wrap(Array[Byte](100, 0)), DecimalType(4, 1), "2560.0")
    assertRejected(decimal, ByteBuffer.wrap(Array[Byte](1)), DecimalType(5, 2), "decimal(5, 2)")
    assertRejected(
      """{"type":"long","logicalType":"timestamp-millis"}""",
      Long.MaxValue,
      TimestampType,
      "out of the range"
    )
    assertRejected("""{"type":"long","logicalType":"timestamp-nanos"}""", 1L, TimestampType, "timestamp")
  }

  test("maps with string keys are also read from arrays of key-value records", FormatRules.avroMaps) {
    val pairs = """{"type":"array","logicalType":"map","items":{"type":"record","name":"kv","fields":[
      {"name":"key","type":"string","field-id":2},{"name":"value","type":["null","int"],"field-id":3}]}}"""
    val path = avroFile(s"""{"name":"c","type":$pairs,"field-id":1}""") { schema =>
      val kv = schema.getFields.get(0).schema.getElementType
      row(Seq(row("a", 1)(kv), row("b", null)(kv)).asJava)(schema)
    }
    val map = MapType(2, StringType, 3, LongType, valueRequired = false)
    assert(read(path, projection(map)) == Vector(Record.of(Vector("a" -> 1L, "b" -> null))))
  }

  test(
    "a file without ids is read by the name mapping, and a file with any id only by its ids",
    FormatRules.nameMapping
  ) {
    def fields(id: String): String = s"""{"name":"a","type":"int"},
      {"name":"s","type":{"type":"record","name":"s","fields":[{"name":"x","type":"int"}]}},
      {"name":"l","type":{"type":"array","items":{"type":"record","name":"e","fields":[{"name":"y","type":"int"}]}}},
      {"name":"m","type":{"type":"map","values":"int"}},
      {"name":"dropped","type":"int"$id}"""
    val values: AvroSchema => GenericRecord = { schema =>
      val s = schema.getField("s").schema
      val e = schema.getField("l").schema.getElementType
      row(7, row(8)(s), Seq(row(9)(e)).asJava, Map("k" -> 10).asJava, 11)(schema)
    }
    def mapped(id: Int, names: String*)(inside: MappedField*): MappedField =
      MappedField(names.toVector, Some(id), inside.toVector)
    val mapping = NameMapping(Vector(
      mapped(1, "old", "a")(),
      mapped(2, "s")(mapped(3, "x")()),
      mapped(4, "l")(mapped(5, "element")(mapped(6, "y")())),
      mapped(7, "m")(mapped(8, "key")(), mapped(9, "value")()),
      MappedField(Vector("dropped"), None, Vector.empty)
    ))
    val element = StructType(Vector(optional(6, "why", IntType)))
    val projection = StructType(Vector(
      optional(2, "t", StructType(Vector(optional(3, "z", LongType), optional(19, "new", IntType)))),
      optional(1, "renamed", IntType),
      optional(4, "l", ListType(5, element, elementRequired = false)),
      optional(7, "m", MapType(8, StringType, 9, IntType, valueRequired = false)),
      optional(18, "dropped", IntType)
    ))
    val source = DataSource(hadoop, avroFile(fields(""))(values), 0, Some(mapping))
    val expected = Record.of(Record.of(8L, null), 7, Vector(Record.of(9)), Vector("k" -> 10), null)
    assert(readFrom(source, projection) == Vector(expected))
    val byOwnNames = StructType(Vector(optional(5, "dropped", LongType), optional(6, "a", IntType)))
    assert(readFrom(source.copy(nameMapping = None), byOwnNames) == Vector(Record.of(11L, 7)))
    val withOneId = source.copy(path = avroFile(fields(""","field-id":1"""))(values))
    assert(readFrom(withOneId, projection) == Vector(Record.of(null, 11, null, null, null)))
  }

  test("files with any Avro codec are read", FormatRules.avroDamage) {
    val codecs = Seq(
      CodecFactory.nullCodec,
      CodecFactory.deflateCodec(6),
      CodecFactory.snappyCodec,
      CodecFactory.zstandardCodec(3),
      CodecFactory.bzip2Codec,
      CodecFactory.xzCodec(6)
    )
    codecs.foreach { codec =>
      val rows = (0 until 8000).map(i => row(i, s"text $i") _)
      val fields = """{"name":"c","type":"int","field-id":1},{"name":"s","type":"string","field-id":2}"""
      val path = avroFile(fields, codec)(rows: _*)
      assert(read(path, projection(IntType)) == (0 until 8000).map(i => Record.of(i)), codec)
    }
  }

  test(
    "the codec follows the table property, Avro's own library reads the file, and column sizes are absent",
    FormatRules.avroSizes,
    FormatRules.avroNulls
  ) {
    val schema = Schema(0, Vector(required(1, "id", LongType), optional(2, "s", StringType)))
    val rows = (0 until 20000).map(i => Record.of(i.toLong, if (i % 3 == 0) null else s"s$i")).toVector
    val codecs = Map("uncompressed" -> "null", "gzip" -> "deflate", "snappy" -> "snappy", "zstd" -> "zstandard")
    codecs.foreach { case (property, name) =>
      val file = write(
        schema,
        rows,
        properties = Map("write.avro.compression-codec" -> property, "write.avro.compression-level" -> "1")
      )
      val reader = new DataFileReader[GenericRecord](new File(file.path), new GenericDatumReader[GenericRecord])
      try {
        assert(reader.getMetaString("avro.codec") == name && reader.getMetaString("made.by") == "a test")
        assert(reader.getMetaString("iceberg.schema").contains("\"name\":\"id\""))
        val found =
          reader.iterator.asScala.map(r => Record.of(r.get(0), Option(r.get(1)).map(_.toString).orNull)).toVector
        assert(found == rows)
      } finally reader.close()
      assert(file.metrics.columnSizes.isEmpty && file.splitOffsets.isEmpty)
      assertSame(read(file.path, schema.asStruct), rows)
    }
  }

  test("a block with a very high compression ratio is read") {
    val schema = Schema(0, Vector(required(1, "s", StringType)))
    val text = "x" * 100000
    val file =
      write(schema, Vector.fill(1400)(Record.of(text)), properties = Map("write.avro.compression-codec" -> "zstd"))
    assert(file.fileSizeInBytes < 1000000)
    val rows = AvroData.read(DataSource(hadoop, file.path, file.fileSizeInBytes), schema.asStruct)
    try assert(rows.count(_(0) == text) == 1400)
    finally rows.close()
  }

  test("rows that take up no bytes in the file are read", FormatRules.unknown) {
    val schema = Schema(0, Vector(optional(1, "u", UnknownType)))
    val file = write(schema, Vector.fill(1000)(Record.of(null)))
    assert(read(file.path, schema.asStruct) == Vector.fill(1000)(Record.of(null)))
  }

  test("lists whose elements take up no bytes in the file are read, and skipped if they are not requested") {
    val path = avroFile(
      """{"name":"id","type":"long","field-id":1},
        {"name":"nulls","type":{"type":"array","items":"null","element-id":4},"field-id":2},
        {"name":"last","type":"string","field-id":3}"""
    )((0 until 100).map(i => row(i.toLong, Collections.nCopies(i * 10, None.orNull), s"row $i") _): _*)
    val (id, last) = (required(1, "id", LongType), required(3, "last", StringType))
    val nulls = optional(2, "nulls", ListType(4, UnknownType, elementRequired = false))
    val rows = (0 until 100).map(i => Record.of(i.toLong, Vector.fill(i * 10)(null), s"row $i"))
    assert(read(path, StructType(Vector(id, nulls, last))) == rows)
    assert(read(path, StructType(Vector(id, last))) == (0 until 100).map(i => Record.of(i.toLong, s"row $i")))
  }

  test(
    "reading a truncated file returns the rows before the cut, or throws an error that contains its path",
    FormatRules.avroDamage
  ) {
    val schema = Schema(0, Vector(required(1, "id", LongType), required(2, "s", StringType)))
    val rows = (0 until 2000).map(i => Record.of(i.toLong, s"row $i")).toVector
    val content = hadoop.read(write(schema, rows).path)
    (0 until content.length by 97).foreach { length =>
      val path = newPath()
      hadoop.write(path, content.take(length))
      try assert(rows.startsWith(read(path, schema.asStruct)))
      catch { case e: UnreadableFile => assert(e.getMessage.contains(path)) }
    }
  }
}
