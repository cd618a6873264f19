package iceberglite.avro

import java.io.ByteArrayInputStream

import scala.collection.JavaConverters._
import scala.util.Random

import org.apache.avro.file.{CodecFactory, DataFileStream, DataFileWriter}
import org.apache.avro.generic.{GenericData, GenericDatumReader, GenericDatumWriter, GenericRecord}
import org.apache.avro.{Schema => AvroSchema}
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.IcebergError.InvalidArgument

class AvroCodecSuite extends AnyFunSuite {
  private val json =
    """{"type":"record","name":"r","fields":[{"name":"n","type":"long"},{"name":"t","type":"string"}]}"""
  private val schema = new AvroSchema.Parser().parse(json)
  private val random = new Random(7)

  /** Rows that need more than one block. Half of the rows are hard to compress. */
  private val rows: Seq[(Long, String)] =
    (0 until 3000).map(i => (i.toLong, if (i % 2 == 0) "same" else random.alphanumeric.take(100).mkString))

  private def read(bytes: Array[Byte]): Seq[(Long, String)] =
    AvroContainerReader.open(bytes).records(in => (in.readLong(), in.readText())).toVector

  for (codec <- Seq("uncompressed", "gzip", "snappy", "zstd"))
    test(s"a file with the codec $codec can be read by this library and by Avro's own reader") {
      val writer = new AvroContainerWriter(
        json,
        Seq("some" -> "thing"),
        AvroCodec.of(Map("write.manifest.compression-codec" -> codec))
      )
      rows.foreach { case (n, t) =>
        writer.add { out =>
          out.writeLong(n)
          out.writeText(t)
        }
      }
      val bytes = writer.finish()
      val stream = new DataFileStream(new ByteArrayInputStream(bytes), new GenericDatumReader[GenericRecord])
      assert(stream.getMetaString("some") == "thing")
      val theirs = stream.iterator.asScala.map(r => (r.get("n").asInstanceOf[Long], r.get("t").toString)).toVector
      assert(theirs == rows)
      assert(read(bytes) == rows)
    }

  for (codec <- Seq("null", "deflate", "snappy", "zstandard"))
    test(s"a file of Avro's own writer with the codec $codec is read") {
      val out = new java.io.ByteArrayOutputStream
      val writer = new DataFileWriter[GenericRecord](new GenericDatumWriter[GenericRecord](schema))
      writer.setCodec(CodecFactory.fromString(codec)).create(schema, out)
      rows.foreach { case (n, t) =>
        val record = new GenericData.Record(schema)
        record.put("n", n)
        record.put("t", t)
        writer.append(record)
      }
      writer.close()
      assert(read(out.toByteArray) == rows)
    }

  test("a file without records can be written and read") {
    assert(read(new AvroContainerWriter(json, Seq.empty, AvroCodec.Default).finish()).isEmpty)
  }

  test("the error for an unknown codec of a file lists the known codecs") {
    val error = intercept[AvroFault](AvroCodec.decompressor("lzma"))
    assert(error.getMessage.contains("codec lzma") && error.getMessage.contains("zstandard"))
  }

  test("the error for an unknown codec in a table property contains the property") {
    val error = intercept[InvalidArgument](AvroCodec.of(Map("write.manifest.compression-codec" -> "lzma")))
    assert(error.getMessage.contains("write.manifest.compression-codec"))
  }
}
