package iceberglite.spark.write.avro

import java.io.ByteArrayInputStream

import scala.collection.JavaConverters._

import org.apache.avro.file.DataFileStream
import org.apache.avro.generic.{GenericDatumReader, GenericRecord}

import iceberglite.data.Record
import iceberglite.data.avro.AvroData
import iceberglite.metrics.MetricsModes
import iceberglite.spark.write.RowFormatTests
import iceberglite.spark.write.files.{DataFileFormat, InputField}
import iceberglite.spec.property.TableProperty
import iceberglite.storage.FileIO

class AvroDataFileSuite extends RowFormatTests(AvroData) {
  override private[write] def format(
      input: Vector[InputField],
      modes: MetricsModes,
      properties: Map[String, String],
      io: FileIO
  ): DataFileFormat = new AvroFormat(
    input,
    0,
    modes,
    TableProperty.of(TableProperty.AvroCodec, properties),
    TableProperty.of(TableProperty.AvroCompressionLevel, properties),
    Map("iceberg.schema" -> "the schema"),
    io
  )

  private def reader(run: Run): DataFileStream[GenericRecord] =
    new DataFileStream(new ByteArrayInputStream(run.io.read(run.path)), new GenericDatumReader[GenericRecord])

  test("the file, read by Avro's library, has the codec and the schema of the table and an id for each field") {
    val codecs = Map("uncompressed" -> "null", "gzip" -> "deflate", "snappy" -> "snappy", "zstd" -> "zstandard")
    codecs.foreach { case (codec, name) =>
      val rows = randomRows(5000, 20)
      val run = new Run(simple, rows, Map("write.avro.compression-codec" -> codec))
      val file = reader(run)
      try {
        assert(file.getMetaString("avro.codec") == name && file.getMetaString("iceberg.schema") == "the schema")
        assert(file.getSchema.getName == "table")
        assert(file.getSchema.getFields.asScala.map(f => f.name -> f.getObjectProp("field-id")) ==
          Seq("id" -> 1, "text" -> 2))
        assert(file.iterator.asScala.map(r => Record.of(r.get(0), r.get(1).toString)).toVector == rows)
      } finally file.close()
      assert(run.finished.splitOffsets.isEmpty && run.finished.metrics.columnSizes.isEmpty)
    }
  }

  test("a higher compression level gives a smaller file") {
    val rows = Vector.tabulate(5000)(i => Record.of(i.toLong, "the same text again"))
    def length(level: Int): Long =
      new Run(simple, rows, Map("write.avro.compression-level" -> level.toString)).finished.fileSizeInBytes
    assert(length(0) > 3 * length(9))
  }

  test("the reported length is close to the file length, and the writer buffers little memory") {
    val io = new iceberglite.table.MemoryFileIO
    val writer = format(inputOf(simple), MetricsModes(Map.empty), Map.empty, io).newFiles().open("mem:/f")
    converted(simple, randomRows(20000, 100)).foreach { row =>
      writer.write(row)
      assert(writer.buffered < 200000)
    }
    val length = writer.length
    writer.flush()
    val file = writer.finish()
    assert(file.fileSizeInBytes == io.read("mem:/f").length && math.abs(file.fileSizeInBytes - length) < 100000)
    assert(file.fileSizeInBytes > 1000000)
  }
}
