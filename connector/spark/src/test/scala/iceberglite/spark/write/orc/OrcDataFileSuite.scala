package iceberglite.spark.write.orc

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.Files

import scala.collection.JavaConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.orc.OrcProto.Stream.Kind
import org.apache.orc.impl.RecordReaderImpl
import org.apache.orc.{CompressionKind, OrcFile, Reader, TypeDescription}

import iceberglite.data.{Record, RecordGenerators}
import iceberglite.data.orc.{OrcData, OrcSettings}
import iceberglite.metrics.MetricsModes
import iceberglite.spark.write.RowFormatTests
import iceberglite.spark.write.files.{DataFileFormat, InputField}
import iceberglite.spec.IcebergError.ValidationFailed
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{PrimitiveType, Type}
import iceberglite.spec.types.NestedField.optional
import iceberglite.spec.types.Type._
import iceberglite.storage.FileIO

class OrcDataFileSuite extends RowFormatTests(OrcData) {
  override private[write] def format(
      input: Vector[InputField],
      modes: MetricsModes,
      properties: Map[String, String],
      io: FileIO
  ): DataFileFormat =
    new OrcFormat(input, 0, modes, OrcSettings.of(properties), Map("iceberg.schema" -> "the schema"), io)

  override protected def storedValue(value: AnyRef, t: Type): AnyRef =
    RecordGenerators.withoutLastSecondOf1969(value, t)

  /** Opens a written file with the reader of the ORC library. */
  private def withReader[A](run: Run)(body: Reader => A): A = {
    val copy = Files.createTempFile("written", ".orc")
    try {
      Files.write(copy, run.io.read(run.path))
      val reader = OrcFile.createReader(new Path(copy.toUri), OrcFile.readerOptions(new Configuration()))
      try body(reader)
      finally reader.close()
    } finally Files.delete(copy)
  }

  test("every column in the file has the id of its field, and the footer contains the schema of the table") {
    val schema = Schema(
      0,
      Vector(
        optional(1, "l", ListType(2, StructType(Vector(optional(3, "x", IntType))), elementRequired = false)),
        optional(4, "m", MapType(5, StringType, 6, LongType, valueRequired = true))
      )
    )
    withReader(new Run(schema, Seq(Record.of(null, null)))) { reader =>
      def ids(t: TypeDescription): Seq[String] = Option(t.getAttributeValue("iceberg.id")).toSeq ++
        Option(t.getChildren).toSeq.flatMap(_.asScala).flatMap(ids)
      assert(ids(reader.getSchema).map(_.toInt).sorted == (1 to 6))
      assert(UTF_8.decode(reader.getMetadataValue("iceberg.schema")).toString == "the schema")
    }
  }

  test("the codec is that of the table property") {
    val kinds = Seq("none", "zlib", "snappy", "lzo", "lz4", "zstd")
    kinds.foreach { codec =>
      val run = new Run(simple, randomRows(10, 5), Map("write.orc.compression-codec" -> codec))
      withReader(run)(r => assert(r.getCompressionKind == CompressionKind.valueOf(codec.toUpperCase)))
      assert(run.records.size == 10)
    }
  }

  test("the compression strategy of the table property is used: the strategy compression gives a smaller file") {
    val rows = Vector.tabulate(100000)(i => Record.of(i.toLong * 7919 % 10007, s"text ${i * 31 % 5003}"))
    def length(strategy: String): Long =
      new Run(simple, rows, Map("write.orc.compression-strategy" -> strategy)).finished.fileSizeInBytes
    assert(length("compression") < length("speed"))
  }

  test("a stripe ends when it has the configured size, and each stripe starts at a split offset") {
    val rows = randomRows(20000, 100)
    val properties = Map("write.orc.stripe-size-bytes" -> "300000", "write.orc.vectorized.batch-size" -> "100")
    val run = new Run(simple, rows, properties)
    withReader(run) { reader =>
      val stripes = reader.getStripes.asScala
      assert(stripes.size > 4 && run.finished.splitOffsets == stripes.map(_.getOffset))
      assert(stripes.map(_.getNumberOfRows).sum == 20000)
      assert(stripes.init.forall(s => s.getLength > 100000 && s.getLength < 400000), stripes.map(_.getLength))
    }
  }

  test("a stripe that would cross the end of a block of write.orc.block-size-bytes begins in the next block") {
    val rows = randomRows(20000, 100)
    def stripes(properties: (String, String)*): Seq[(Long, Long)] = {
      val stripeSettings = Map("write.orc.stripe-size-bytes" -> "300000", "write.orc.vectorized.batch-size" -> "100")
      withReader(new Run(simple, rows, stripeSettings ++ properties)) { reader =>
        reader.getStripes.asScala.map(s => (s.getOffset, s.getOffset + s.getLength))
      }
    }
    val end = stripes().head._2
    assert(stripes()(1)._1 == end)
    // The library pads at most 5% of the size of a stripe.
    val block = end + 5000
    val padded = stripes("write.orc.block-size-bytes" -> block.toString)
    assert(padded.head._2 == end && padded(1)._1 == block)
  }

  test("the columns in the table property have Bloom filters, larger ones for a lower false-positive probability") {
    val rows = randomRows(5000, 10)
    def filters(properties: (String, String)*): Map[Int, Long] =
      withReader(new Run(simple, rows, properties.toMap)) { reader =>
        val readers = reader.rows.asInstanceOf[RecordReaderImpl]
        try readers.readStripeFooter(reader.getStripes.get(0)).getStreamsList.asScala
            .filter(_.getKind == Kind.BLOOM_FILTER_UTF8).map(s => s.getColumn -> s.getLength).toMap
        finally readers.close()
      }
    assert(filters().isEmpty)
    val defaultFilters = filters("write.orc.bloom.filter.columns" -> "text")
    assert(defaultFilters.keySet == Set(2))
    val largeFilters = filters("write.orc.bloom.filter.columns" -> "id,text", "write.orc.bloom.filter.fpp" -> "0.0001")
    assert(largeFilters.keySet == Set(1, 2) && largeFilters(2) > defaultFilters(2))
  }

  test("a flush ends the current stripe and frees its memory") {
    val io = new iceberglite.table.MemoryFileIO
    val writer = format(inputOf(simple), MetricsModes(Map.empty), Map.empty, io).newFiles().open("mem:/f")
    converted(simple, randomRows(3000, 100)).foreach(writer.write)
    val bufferedBefore = writer.buffered
    writer.flush()
    assert(bufferedBefore > 0 && writer.buffered < bufferedBefore / 4)
    val length = writer.length
    assert(length > 200000)
    writer.flush()
    converted(simple, randomRows(10, 100)).foreach(writer.write)
    val file = writer.finish()
    assert(file.splitOffsets.size == 2 && file.fileSizeInBytes - length < 10000)
  }

  test("a batch of rows with long values is written early, so that less than 60 MB are buffered") {
    val io = new iceberglite.table.MemoryFileIO
    val writer = format(inputOf(simple), MetricsModes(Map.empty), Map.empty, io).newFiles().open("mem:/f")
    val text = "long " * 100000
    val rows = Vector.tabulate(150)(i => Record.of(i.toLong, text))
    converted(simple, rows).foreach { row =>
      writer.write(row)
      assert(writer.buffered < 60000000)
    }
    assert(writer.finish().recordCount == 150 && writer.length < 10000000)
  }

  test("the reported length is close to the file length, for rows that can and rows that cannot be compressed") {
    val properties = Map("write.target-file-size-bytes" -> "500000")
    val incompressible = randomRows(30000, 100)
    val regular = Vector.tabulate(30000)(i => Record.of(i.toLong * 1000003, s"always the same beginning ${i % 100}"))
    Seq(incompressible, regular).foreach { rows =>
      val io = new iceberglite.table.MemoryFileIO
      val files = format(inputOf(simple), MetricsModes(Map.empty), properties, io).newFiles()
      var sizes = Vector.empty[Long]
      val remainingRows = converted(simple, rows)
      while (remainingRows.hasNext) {
        val writer = files.open(s"mem:/f${sizes.size}")
        while (remainingRows.hasNext && writer.length < 500000) writer.write(remainingRows.next())
        sizes :+= writer.finish().fileSizeInBytes
      }
      assert(sizes.init.forall(s => s > 350000 && s < 700000), sizes)
    }
  }

  test("times in the last second before 1970 are rejected, because ORC files cannot store them") {
    Seq[(PrimitiveType, Long)](TimestampType -> -1L, TimestampTzType -> -500L, TimestampNsType -> -1L).foreach {
      case (t, time) =>
        val schema = Schema(0, Vector(optional(1, "at", t)))
        val error = intercept[ValidationFailed](new Run(schema, Seq(Record.of(time))))
        assert(error.getMessage.contains("Column at") && error.getMessage.contains("Parquet or Avro"))
    }
  }
}
