package iceberglite.data.orc

import java.nio.charset.StandardCharsets.UTF_8
import java.util.TimeZone

import scala.collection.JavaConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.hadoop.hive.ql.exec.vector._
import org.apache.orc.{CompressionKind, OrcFile, TypeDescription}

import iceberglite.conformance.FormatRules
import iceberglite.data.{DataSource, FormatTests, Record, RecordGenerators}
import iceberglite.spec.IcebergError.{InvalidArgument, UnreadableFile, ValidationFailed}
import iceberglite.spec.schema.{MappedField, NameMapping, Schema}
import iceberglite.spec.types.{DateTime, PrimitiveType, Type}
import iceberglite.spec.types.NestedField.{optional, required}
import iceberglite.spec.types.Type._

/** Tests reading and writing ORC files (specification, "Appendix A: ORC"). */
class OrcDataSuite extends FormatTests(OrcData) {
  override protected def storedValue(value: AnyRef, t: Type): AnyRef =
    RecordGenerators.withoutLastSecondOf1969(value, t)

  private val configuration = new Configuration(false)

  /** Writes a file with ORC's own library, and returns its path. The file has the given schema and one row. */
  private def writeWithOrc(schema: TypeDescription, proleptic: Boolean = false, utc: Boolean = true)(
      fill: VectorizedRowBatch => Unit
  ): String = {
    val path = newPath()
    val options =
      OrcFile.writerOptions(configuration).setSchema(schema).useUTCTimestamp(utc).setProlepticGregorian(proleptic)
    val writer = OrcFile.createWriter(new Path(path), options)
    val batch = schema.createRowBatch()
    batch.size = 1
    fill(batch)
    writer.addRowBatch(batch)
    writer.close()
    path
  }

  private def long(batch: VectorizedRowBatch, column: Int): LongColumnVector =
    batch.cols(column).asInstanceOf[LongColumnVector]

  private def text(batch: VectorizedRowBatch, column: Int, value: String): Unit =
    batch.cols(column).asInstanceOf[BytesColumnVector].setVal(0, value.getBytes(UTF_8))

  private def inZone[A](id: String)(body: => A): A = {
    val previous = TimeZone.getDefault
    TimeZone.setDefault(TimeZone.getTimeZone(id))
    try body
    finally TimeZone.setDefault(previous)
  }

  test(
    "timestamps do not depend on the time zone, have nanosecond precision, and may be before 1970 or 2015",
    FormatRules.orcTimes
  ) {
    val types = Seq(TimestampType, TimestampTzType, TimestampNsType, TimestampTzNsType)
    val schema = Schema(0, types.zipWithIndex.map { case (t, i) => required(i + 1, s"c$i", t) }.toVector)
    // Includes a local time that daylight saving time skips in New York, and times shortly before a full second.
    val times = Vector(0L, -999999L, 1L, -999001L, -1000000L, -1001000L, -1000001L, -1500000L, 1420070399999999L,
      1420070400000001L, 1520735400123456L, -62135596800000000L, 253402300799999999L)
    val nanos = Vector(
      0L,
      -999999999L,
      1L,
      -999000001L,
      -1000000000L,
      -1000000001L,
      -1500000001L,
      1420070399999999999L,
      1520735400123456789L,
      Long.MaxValue,
      Long.MinValue,
      Long.MinValue + 1,
      1001L
    )
    val rows = times.zip(nanos).map { case (m, n) => Record.of(m, m, n, n) }
    val file = inZone("America/New_York")(write(schema, rows))
    Seq("America/New_York", "Asia/Kolkata", "UTC").foreach { zone =>
      assertSame(inZone(zone)(read(file.path, schema.asStruct)), rows)
    }
  }

  test("timestamps that ORC files cannot represent are rejected and not silently changed", FormatRules.orcTimes) {
    def message(t: PrimitiveType, value: Long): String =
      intercept[ValidationFailed](write(Schema(0, Vector(required(1, "t", t))), Vector(Record.of(value)))).getMessage
    Seq(-1L, -999000L, -1000L).foreach(v => assert(message(TimestampType, v).contains("Column t")))
    Seq(-1L, -999000000L).foreach(v => assert(message(TimestampTzNsType, v).contains("Parquet")))
  }

  test(
    "a timestamp without zone is read unchanged if another writer used its local time zone",
    FormatRules.orcTimes
  ) {
    val schema = TypeDescription.fromString("struct<t:timestamp>")
    schema.getChildren.get(0).setAttribute("iceberg.id", "1")
    val path = inZone("Asia/Kolkata")(writeWithOrc(schema, utc = false) { batch =>
      val times = batch.cols(0).asInstanceOf[TimestampColumnVector]
      times.set(0, java.sql.Timestamp.valueOf("2020-01-02 03:04:05.123456789"))
    })
    val found = inZone("America/New_York")(read(path, StructType(Vector(optional(1, "t", TimestampType)))))
    assert(found == Vector(Record.of(DateTime.parseTimestamp("2020-01-02T03:04:05.123456").get)))
  }

  test("a column in nanoseconds is not silently truncated to microseconds", FormatRules.orcTimes) {
    val file = write(Schema(0, Vector(required(1, "t", TimestampNsType))), Vector(Record.of(1L)))
    val error = intercept[UnreadableFile](read(file.path, StructType(Vector(required(1, "t", TimestampType)))))
    assert(error.getMessage.contains("Column t"))
  }

  test("old dates are read unchanged if the writer used the Julian or the Gregorian calendar", FormatRules.orcTimes) {
    Seq(true, false).foreach { proleptic =>
      val schema = TypeDescription.fromString("struct<d:date>")
      val path = writeWithOrc(schema, proleptic) { batch =>
        val dates = batch.cols(0).asInstanceOf[DateColumnVector]
        dates.changeCalendar(proleptic, false)
        dates.vector(0) = -700000L
      }
      assert(read(path, StructType(Vector(optional(1, "d", DateType)))) == Vector(Record.of(-700000)))
    }
  }

  test("ORC's smaller types are read as int, long and string", FormatRules.orcNarrow, FormatRules.promoted) {
    val schema = TypeDescription.fromString("struct<a:tinyint,b:smallint,c:varchar(5),d:char(3)>")
    val path = writeWithOrc(schema) { batch =>
      long(batch, 0).vector(0) = -3
      long(batch, 1).vector(0) = 300
      text(batch, 2, "v")
      text(batch, 3, "c")
    }
    val projection = StructType(Vector(
      optional(1, "a", IntType),
      optional(2, "b", LongType),
      optional(3, "c", StringType),
      optional(4, "d", StringType)
    ))
    assert(read(path, projection) == Vector(Record.of(-3, 300L, "v", "c")))
  }

  test(
    "a file without ids is read by the name mapping, and a file with any id only by its ids",
    FormatRules.nameMapping
  ) {
    def schema(text: String): TypeDescription = TypeDescription.fromString(text)
    val mapping = NameMapping(Vector(
      MappedField(Vector("old", "a"), Some(1), Vector.empty),
      MappedField(Vector("s"), Some(2), Vector(MappedField(Vector("x.y"), Some(3), Vector.empty))),
      MappedField(Vector("l"), Some(4), Vector(MappedField(Vector("element"), Some(5), Vector.empty))),
      MappedField(Vector("dropped"), None, Vector.empty)
    ))
    val projection = StructType(Vector(
      optional(2, "t", StructType(Vector(optional(3, "z", IntType), optional(9, "new", IntType)))),
      optional(1, "renamed", IntType),
      optional(4, "l", ListType(5, IntType, elementRequired = false)),
      optional(8, "dropped", IntType)
    ))
    def fill(batch: VectorizedRowBatch): Unit = {
      long(batch, 0).vector(0) = 7
      batch.cols(1).asInstanceOf[StructColumnVector].fields(0).asInstanceOf[LongColumnVector].vector(0) = 8
      val list = batch.cols(2).asInstanceOf[ListColumnVector]
      list.lengths(0) = 1
      list.childCount = 1
      list.child.asInstanceOf[LongColumnVector].vector(0) = 9
      long(batch, 3).vector(0) = 10
    }
    val pathWithoutIds = writeWithOrc(schema("struct<a:int,s:struct<`x.y`:int>,l:array<int>,dropped:int>"))(fill)
    val source = DataSource(hadoop, pathWithoutIds, 0, Some(mapping))
    assert(readFrom(source, projection) == Vector(Record.of(Record.of(8, null), 7, Vector(9), null)))
    val ownNames =
      StructType(Vector(optional(2, "s", StructType(Vector(optional(3, "x.y", IntType)))), optional(7, "a", LongType)))
    assert(readFrom(source.copy(nameMapping = None), ownNames) == Vector(Record.of(Record.of(8), 7L)))

    val withOneId = schema("struct<a:int,s:struct<`x.y`:int>,l:array<int>,dropped:int>")
    withOneId.getChildren.get(3).setAttribute("iceberg.id", "1")
    val pathWithOneId = writeWithOrc(withOneId)(fill)
    assert(readFrom(source.copy(path = pathWithOneId), projection) == Vector(Record.of(null, 10, null, null)))
  }

  test("a duplicate field id in a file is an error if its column is projected") {
    val schema = TypeDescription.fromString("struct<a:int,b:int>")
    schema.getChildren.asScala.foreach(_.setAttribute("iceberg.id", "1"))
    val path = writeWithOrc(schema)(_ => ())
    val error = intercept[UnreadableFile](read(path, StructType(Vector(optional(1, "a", IntType)))))
    assert(error.getMessage.contains("field id 1 more than once"))
    assert(read(path, StructType(Vector(optional(2, "x", IntType)))) == Vector(Record.of(null)))
  }

  test("a type that Iceberg does not have is an error only if the column is projected") {
    val schema = TypeDescription.fromString("struct<u:uniontype<int,string>,i:int>")
    schema.getChildren.asScala.zipWithIndex.foreach { case (t, i) => t.setAttribute("iceberg.id", (i + 1).toString) }
    val path = writeWithOrc(schema) { batch =>
      batch.cols(0).noNulls = false
      batch.cols(0).isNull(0) = true
      long(batch, 1).vector(0) = 4
    }
    assert(read(path, StructType(Vector(optional(2, "i", IntType)))) == Vector(Record.of(4)))
    val error = intercept[UnreadableFile](read(path, StructType(Vector(optional(1, "u", IntType)))))
    assert(error.getMessage.contains("uniontype"))
  }

  test("the error for a fixed or uuid value with a wrong length contains the column and length", FormatRules.orcFixed) {
    val file =
      write(Schema(0, Vector(required(1, "b", BinaryType))), Vector(Record.of(java.nio.ByteBuffer.allocate(4))))
    Seq(FixedType(3), UuidType).foreach { t =>
      val error = intercept[UnreadableFile](read(file.path, StructType(Vector(required(1, "b", t)))))
      assert(error.getMessage.contains("Column b") && error.getMessage.contains("4 bytes"))
    }
  }

  test("codec and stripe size follow the table properties; splits begin at stripes", FormatRules.orcSplits) {
    val schema =
      Schema(0, Vector(required(1, "id", LongType), required(2, "l", ListType(3, StringType, elementRequired = true))))
    val random = new scala.util.Random(7)
    val rows = (0 until 30000).map(_ => Record.of(random.nextLong(), Vector(random.nextString(20)))).toVector
    val kinds = Map(
      "none" -> CompressionKind.NONE,
      "zlib" -> CompressionKind.ZLIB,
      "snappy" -> CompressionKind.SNAPPY,
      "lz4" -> CompressionKind.LZ4,
      "zstd" -> CompressionKind.ZSTD
    )
    kinds.foreach { case (codec, kind) =>
      val properties = Map(
        "write.orc.compression-codec" -> codec,
        "write.orc.stripe-size-bytes" -> "100000",
        "write.orc.bloom.filter.columns" -> "id",
        "write.orc.vectorized.batch-size" -> "100"
      )
      val file = write(schema, rows, properties = properties)
      val reader = OrcFile.createReader(new Path(file.path), OrcFile.readerOptions(configuration))
      try {
        assert(reader.getCompressionKind == kind)
        assert(file.splitOffsets == reader.getStripes.asScala.map(_.getOffset) && file.splitOffsets.size > 1)
        assert(UTF_8.decode(reader.getMetadataValue("made.by")).toString == "a test")
        assert(file.metrics.columnSizes.get.keySet == Set(1, 3))
        assert(file.metrics.columnSizes.get.values.forall(_ > 0))
      } finally reader.close()
      assertSame(read(file.path, schema.asStruct), rows)
    }
    val error =
      intercept[InvalidArgument](write(schema, rows.take(1), properties = Map("write.orc.compression-codec" -> "x")))
    assert(error.getMessage.contains("write.orc.compression-codec"))
  }

  test("the error for a truncated file contains its path", FormatRules.orcDamage) {
    val schema = RecordGenerators.flat(RecordGenerators.ofVersion2)
    val rows = records(schema).suchThat(_.nonEmpty).sample.toVector.flatten
    val content = hadoop.read(write(schema, rows).path)
    (0 until content.length by 97).foreach { length =>
      val path = newPath()
      hadoop.write(path, content.take(length))
      assert(intercept[UnreadableFile](read(path, schema.asStruct)).getMessage.contains(path))
    }
  }
}
