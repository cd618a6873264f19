package iceberglite.parquet

import java.nio.ByteBuffer

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.parquet.example.data.Group
import org.apache.parquet.example.data.simple.{NanoTime, SimpleGroupFactory}
import org.apache.parquet.hadoop.{ParquetFileReader, ParquetFileWriter}
import org.apache.parquet.hadoop.example.ExampleParquetWriter
import org.apache.parquet.hadoop.metadata.{CompressionCodecName, ParquetMetadata}
import org.apache.parquet.hadoop.util.HadoopInputFile
import org.apache.parquet.io.api.Binary
import org.apache.parquet.schema.{MessageType, MessageTypeParser}
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.conformance.MetricsRules
import iceberglite.metrics.{CollectedValues, MetricsModes}
import iceberglite.spec.file.Metrics
import iceberglite.spec.property.MetricsMode
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{Literal, NestedField, SingleValue}
import iceberglite.spec.types.Literal._
import iceberglite.spec.types.NestedField.{optional, required}
import iceberglite.spec.types.Type._
import iceberglite.storage.TemporaryDirectory
import iceberglite.tree.manifestlist.ManifestSamples

class ParquetMetricsSuite extends AnyFunSuite with TemporaryDirectory {
  private val conf = new Configuration(false)

  private def footer(schema: MessageType, rowGroupSize: Long = 128L << 20)(rows: (Group => Unit)*): ParquetMetadata = {
    val file = new Path(s"$directory/f.parquet")
    val writer = ExampleParquetWriter.builder(file).withType(schema).withConf(conf)
      .withCompressionCodec(CompressionCodecName.UNCOMPRESSED).withRowGroupSize(rowGroupSize).withPageSize(100)
      .withDictionaryEncoding(false).withWriteMode(ParquetFileWriter.Mode.OVERWRITE).build()
    val groups = new SimpleGroupFactory(schema)
    rows.foreach { fill =>
      val group = groups.newGroup()
      fill(group)
      writer.write(group)
    }
    writer.close()
    val reader = ParquetFileReader.open(HadoopInputFile.fromPath(file, conf))
    try reader.getFooter
    finally reader.close()
  }

  private def metrics(mode: MetricsMode, fields: NestedField*)(rows: (Group => Unit)*): Metrics =
    metrics(mode, Map.empty[Int, CollectedValues], fields: _*)(rows: _*)

  private def metrics(mode: MetricsMode, collected: Map[Int, CollectedValues], fields: NestedField*)(
      rows: (Group => Unit)*
  ): Metrics = {
    val schema = Schema(0, fields.toVector)
    val modes = MetricsModes(schema.byId.map { case (id, _) => id -> mode })
    ParquetMetrics.of(footer(ParquetSchemas.of(schema))(rows: _*), schema, modes, collected).metrics
  }

  private def bounds(m: Metrics, id: Int): (Option[ByteBuffer], Option[ByteBuffer]) =
    (m.lowerBound(id), m.upperBound(id))

  private def encoded(lower: Literal, upper: Literal): (Option[ByteBuffer], Option[ByteBuffer]) =
    (Some(SingleValue.encode(lower)), Some(SingleValue.encode(upper)))

  private def fixed(bytes: Int*): Binary = Binary.fromConstantByteArray(bytes.map(_.toByte).toArray)

  test("counts and bounds of top-level columns match the rows", MetricsRules.counts, MetricsRules.columnSizes) {
    val fields = Seq(required(1, "l", LongType), optional(2, "s", StringType), optional(3, "n", IntType))
    val m = metrics(MetricsMode.Full, fields: _*)(
      _.append("l", 5L).append("s", "b"),
      _.append("l", -5L),
      _.append("l", 7L).append("s", "a")
    )
    assert(m.valueCounts.contains(Map(1 -> 3L, 2 -> 3L, 3 -> 3L)))
    assert(m.nullValueCounts.contains(Map(1 -> 0L, 2 -> 1L, 3 -> 3L)))
    assert(m.nanValueCounts.contains(Map.empty))
    assert(m.columnSizes.exists(sizes => sizes.keySet == Set(1, 2, 3) && sizes.values.forall(_ > 0)))
    assert(bounds(m, 1) == encoded(LongLiteral(-5), LongLiteral(7)))
    assert(bounds(m, 2) == encoded(StringLiteral("a"), StringLiteral("b")))
    assert(bounds(m, 3) == ((None, None)))
  }

  test(
    "bounds are encoded with the type of the column, independent of the physical type in Parquet",
    MetricsRules.bounds,
    MetricsRules.uuids
  ) {
    val uuid = java.util.UUID.fromString("f79c3e09-677c-4bbd-a479-3f349cb785e7")
    val uuidBytes =
      ByteBuffer.allocate(16).putLong(uuid.getMostSignificantBits).putLong(uuid.getLeastSignificantBits).array
    val m = metrics(
      MetricsMode.Full,
      optional(1, "d9", DecimalType(9, 2)),
      optional(2, "d18", DecimalType(18, 3)),
      optional(3, "d38", DecimalType(20, 1)),
      optional(4, "da", DateType),
      optional(5, "t", TimeType),
      optional(6, "tz", TimestampTzType),
      optional(7, "ns", TimestampNsType),
      optional(8, "u", UuidType),
      optional(9, "fx", FixedType(2)),
      optional(10, "b", BinaryType),
      optional(11, "bo", BooleanType)
    )(
      _.append("d9", -150).append("d18", 1L).append("d38", fixed(0, 0, 0, 0, 0, 0, 0, 0, 15)).append("da", -1)
        .append("t", 5L).append("tz", -1L).append("ns", 3L).append("u", Binary.fromConstantByteArray(uuidBytes))
        .append("fx", fixed(1, 200)).append("b", fixed(255)).append("bo", true),
      _.append("d38", fixed(255, 255, 255, 255, 255, 255, 255, 255, 241)).append("b", fixed(1)).append("bo", false)
    )
    def decimal(text: String): Literal = DecimalLiteral(new java.math.BigDecimal(text))
    assert(bounds(m, 1) == encoded(decimal("-1.50"), decimal("-1.50")))
    assert(bounds(m, 2) == encoded(decimal("0.001"), decimal("0.001")))
    assert(bounds(m, 3) == encoded(decimal("-1.5"), decimal("1.5")))
    assert(bounds(m, 4) == encoded(DateLiteral(-1), DateLiteral(-1)))
    assert(bounds(m, 5) == encoded(TimeLiteral(5), TimeLiteral(5)))
    assert(bounds(m, 6) == encoded(TimestampTzLiteral(-1), TimestampTzLiteral(-1)))
    assert(bounds(m, 7) == encoded(TimestampNsLiteral(3), TimestampNsLiteral(3)))
    assert(bounds(m, 8) == encoded(UuidLiteral(uuid), UuidLiteral(uuid)))
    assert(bounds(m, 9) == ((Some(ManifestSamples.bytes(1, 200)), Some(ManifestSamples.bytes(1, 200)))))
    assert(bounds(m, 10) == ((Some(ManifestSamples.bytes(1)), Some(ManifestSamples.bytes(255)))))
    assert(bounds(m, 11) == encoded(BooleanLiteral(false), BooleanLiteral(true)))
  }

  test(
    "without metrics from the writer, a column with NaN has no bounds, and zero bounds become -0.0 and 0.0",
    MetricsRules.zeros
  ) {
    val fields = Seq(optional(1, "nan", DoubleType), optional(2, "z", DoubleType), optional(3, "f", FloatType))
    val m = metrics(MetricsMode.Full, fields: _*)(
      _.append("nan", 1.0).append("z", 0.0).append("f", -0.0f),
      _.append("nan", Double.NaN).append("z", 0.0).append("f", -0.0f)
    )
    assert(bounds(m, 1) == ((None, None)))
    assert(bounds(m, 2) == encoded(DoubleLiteral(-0.0), DoubleLiteral(0.0)))
    assert(bounds(m, 3) == encoded(FloatLiteral(-0.0f), FloatLiteral(0.0f)))
  }

  test("floating-point metrics from the writer override the statistics in the footer", MetricsRules.nans) {
    val fromWriter = CollectedValues(Some(1), Some((DoubleLiteral(1.0), DoubleLiteral(0.5))))
    val fields = Seq(optional(1, "d", DoubleType))
    def metricsIn(mode: MetricsMode): Metrics =
      metrics(mode, Map(1 -> fromWriter), fields: _*)(_.append("d", 1.0), _.append("d", Double.NaN))
    assert(metricsIn(MetricsMode.Full).nanValueCount(1).contains(1L))
    assert(bounds(metricsIn(MetricsMode.Truncate(1)), 1) == encoded(DoubleLiteral(1.0), DoubleLiteral(0.5)))
    assert(bounds(metricsIn(MetricsMode.Counts), 1) == ((None, None)) && metricsIn(MetricsMode.Counts).nanValueCount(1)
      .contains(1L))
    assert(metricsIn(MetricsMode.NoMetrics).nanValueCounts.contains(Map.empty))
  }

  test("unsigned columns, and text columns with invalid UTF-8 bounds, have no bounds", MetricsRules.unknownStatistics) {
    val imported = MessageTypeParser.parseMessageType(
      "message m { optional int32 u (INTEGER(32,false)) = 1; optional binary s (UTF8) = 2; }"
    )
    val schema = Schema(0, Vector(optional(1, "u", LongType), optional(2, "s", StringType)))
    val file = footer(imported) { row =>
      row.append("u", -1).append("s", fixed(0xe2, 0x82))
      ()
    }
    val m = ParquetMetrics.of(file, schema, MetricsModes(Map(1 -> MetricsMode.Full, 2 -> MetricsMode.Full))).metrics
    assert(m.valueCounts.contains(Map(1 -> 1L, 2 -> 1L)) && m.lowerBounds.contains(Map.empty))
  }

  test("fields of structs have bounds, and fields inside lists and maps have only sizes", MetricsRules.repeatedFields) {
    val m = metrics(
      MetricsMode.Full,
      optional(1, "s", StructType(Vector(optional(2, "x", IntType)))),
      optional(3, "l", ListType(4, IntType, elementRequired = false)),
      optional(5, "m", MapType(6, StringType, 7, IntType, valueRequired = false))
    )(
      row => {
        row.addGroup("s").append("x", 3)
        row.addGroup("l").addGroup("list").append("element", 9)
        row.addGroup("m").addGroup("key_value").append("key", "k").append("value", 1)
        ()
      },
      _ => ()
    )
    assert(bounds(m, 2) == encoded(IntLiteral(3), IntLiteral(3)) && m.valueCount(2).contains(2L))
    assert(m.nullValueCount(2).contains(1L))
    assert(m.columnSizes.exists(_.keySet == Set(2, 4, 6, 7)))
    assert(Seq(4, 6, 7).forall(id => m.valueCount(id).isEmpty && bounds(m, id) == ((None, None))))
  }

  test("metrics modes determine the stored metrics", MetricsRules.modes) {
    val rows: Seq[Group => Unit] = Seq(_.append("s", "abcdef"), _.append("s", "xyz"))
    def metricsIn(mode: MetricsMode): Metrics = metrics(mode, required(1, "s", StringType))(rows: _*)
    assert(metricsIn(MetricsMode.NoMetrics).valueCounts.contains(Map.empty) && metricsIn(MetricsMode.NoMetrics)
      .columnSize(1).isEmpty)
    assert(
      metricsIn(MetricsMode.Counts).valueCount(1).contains(2L) && metricsIn(MetricsMode.Counts).lowerBound(1).isEmpty
    )
    val truncated = metricsIn(MetricsMode.Truncate(2))
    assert(bounds(truncated, 1) == encoded(StringLiteral("ab"), StringLiteral("xz")))
    assert(bounds(metricsIn(MetricsMode.Full), 1) == encoded(StringLiteral("abcdef"), StringLiteral("xyz")))
  }

  test(
    "a file with several row groups has one lower and one upper bound per column, and ascending split offsets",
    MetricsRules.columnSizes
  ) {
    val schema = Schema(0, Vector(required(1, "l", LongType)))
    val modes = MetricsModes(Map(1 -> MetricsMode.Full))
    val rows: Seq[Group => Unit] = (0 until 1000).map(i => (g: Group) => { g.append("l", (i * 7919L) % 1000); () })
    val file = footer(ParquetSchemas.of(schema), rowGroupSize = 1000)(rows: _*)
    val all = ParquetMetrics.of(file, schema, modes)
    assert(all.recordCount == 1000 && all.splitOffsets.size > 1 && all.splitOffsets.head == 4L)
    assert(all.splitOffsets == all.splitOffsets.sorted)
    assert(bounds(all.metrics, 1) == encoded(LongLiteral(0), LongLiteral(999)))
    assert(all.metrics.valueCount(1).contains(1000L))
  }

  test("an empty file has counts of zero and no bounds") {
    val m = metrics(MetricsMode.Full, required(1, "l", LongType))()
    assert(m.valueCounts.contains(Map(1 -> 0L)) && m.nullValueCounts.contains(Map(1 -> 0L)))
    assert(m.lowerBounds.contains(Map.empty) && m.columnSizes.contains(Map.empty))
  }

  test(
    "in imported files INT96 has only sizes, milliseconds become microseconds, and columns without id are omitted",
    MetricsRules.unknownStatistics
  ) {
    val imported = MessageTypeParser.parseMessageType(
      """message m { optional int96 old = 1; optional int64 ms (TIMESTAMP(MILLIS,true)) = 2; optional int32 i = 3;
        |  optional int32 nameless; optional int32 unknown = 99; }""".stripMargin
    )
    val times = Vector(optional(1, "old", TimestampTzType), optional(2, "ms", TimestampTzType))
    val schema = Schema(0, times :+ optional(3, "i", LongType))
    val modes = MetricsModes((1 to 3).map(_ -> MetricsMode.Full).toMap)
    val file = footer(imported) { row =>
      row.append("old", new NanoTime(1, 1)).append("ms", 5L).append("i", 9).append("nameless", 1).append("unknown", 2)
      ()
    }
    val m = ParquetMetrics.of(file, schema, modes).metrics
    assert(m.valueCounts.contains(Map(2 -> 1L, 3 -> 1L)) && m.columnSizes.exists(_.keySet == Set(1, 2, 3)))
    assert(bounds(m, 2) == encoded(TimestampTzLiteral(5000), TimestampTzLiteral(5000)))
    assert(bounds(m, 3) == encoded(LongLiteral(9), LongLiteral(9)))
  }
}
