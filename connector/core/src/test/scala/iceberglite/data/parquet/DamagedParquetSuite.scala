package iceberglite.data.parquet

import java.io.{ByteArrayOutputStream, InputStream}
import java.nio.ByteBuffer
import java.nio.file.{Files, Paths}

import scala.util.Try

import org.apache.parquet.hadoop.ParquetFileReader
import org.apache.parquet.hadoop.metadata.CompressionCodecName
import org.apache.parquet.io.{DelegatingSeekableInputStream, InputFile, ParquetDecodingException, SeekableInputStream}
import org.scalacheck.Gen
import org.scalacheck.rng.Seed
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.{Allocation, Fuzz, MoreRoundsInSlowTierTag}
import iceberglite.conformance.ParquetRules
import iceberglite.data.{DataSource, Record, RecordGenerators}
import iceberglite.parquet.ParquetInput
import iceberglite.spec.IcebergError
import iceberglite.spec.IcebergError.{UnreadableFile, Unsupported}
import iceberglite.spec.schema.{MetadataColumns, Schema}
import iceberglite.spec.types.NestedField.required
import iceberglite.spec.types.Type._
import iceberglite.storage.TemporaryDirectory
import iceberglite.table.MemoryFileIO

/** Tests reading Parquet files that are damaged, by accident or on purpose. */
class DamagedParquetSuite extends AnyFunSuite with TemporaryDirectory with ParquetFiles {
  private val schema = RecordGenerators.flat(RecordGenerators.ofVersion2)
  private val nested = schemaOf(
    required(1, "id", LongType),
    required(2, "l", ListType(3, StringType, elementRequired = false)),
    required(4, "m", MapType(5, StringType, 6, DoubleType, valueRequired = false))
  )
  private val deletes = Schema(0, Vector(MetadataColumns.DeleteFilePath, MetadataColumns.DeletePosition))

  private def sample(schema: Schema, codec: String): Array[Byte] = {
    val rows = Gen.listOfN(200, RecordGenerators.record(schema.asStruct)).pureApply(Gen.Parameters.default, Seed(1))
    val file =
      write(schema, rows, Map("write.parquet.compression-codec" -> codec, "write.parquet.page-row-limit" -> "50"))
    Files.readAllBytes(Paths.get(file.path))
  }

  /** The maximum number of bytes that reading a small file may allocate. */
  private val MaxAllocatedBytes = 512L << 20

  /** The maximum number of bytes that rejecting a small file may allocate. */
  private val MaxAllocatedByRejection = 4L << 20

  /** Reads a file and checks that it allocates at most `max` bytes, even if reading fails. */
  private def readAll(bytes: Array[Byte], schema: Schema, max: Long = MaxAllocatedBytes): Vector[Record] = {
    val memory = new MemoryFileIO
    memory.write("f.parquet", bytes)
    val (outcome, allocated) = Allocation.of(Try {
      val rows = ParquetData.read(DataSource(memory, "f.parquet", bytes.length.toLong), schema.asStruct)
      try rows.take(10000).toVector
      finally rows.close()
    })
    if (allocated > max) {
      throw new AssertionError(s"Reading a file of ${bytes.length} bytes allocated $allocated bytes")
    }
    outcome.get
  }

  Seq(
    ("data", schema, "uncompressed"),
    ("data", schema, "zstd"),
    ("nested", nested, "snappy"),
    ("deletes", deletes, "gzip")
  )
    .foreach { case (content, columns, codec) =>
      test(
        s"reading damaged $content files ($codec) succeeds or throws IcebergError",
        ParquetRules.damagedFiles,
        MoreRoundsInSlowTierTag
      ) {
        val valid = sample(columns, codec)
        assert(readAll(valid, columns).size == 200)
        Fuzz.bytes(s"parquet $content $codec", 50, Vector(valid))(readAll(_, columns))
        Fuzz.run(s"parquet footer $content $codec", 80) { random =>
          val size = ByteBuffer.wrap(valid.slice(valid.length - 8, valid.length - 4).reverse).getInt
          val (head, footer) = valid.dropRight(8).splitAt(valid.length - 8 - size)
          val damaged = Fuzz.mutate(footer, random)
          head ++ damaged ++ ByteBuffer.allocate(4).putInt(damaged.length).array.reverse ++ "PAR1".getBytes
        }(readAll(_, columns))
      }
    }

  test("the error for a truncated, empty or encrypted file contains its path", ParquetRules.damagedFiles) {
    val valid = sample(deletes, "zstd")
    val broken = Seq(
      Array.emptyByteArray -> "too few for a Parquet file",
      valid.dropRight(1) -> "PAR1",
      valid.take(100) -> "PAR1",
      (valid.dropRight(4) ++ "PARE".getBytes) -> "encrypted",
      (valid.dropRight(8) ++ Array[Byte](-1, -1, -1, 127) ++ "PAR1".getBytes) -> "footer"
    )
    broken.foreach { case (bytes, reason) =>
      val error = intercept[UnreadableFile](readAll(bytes, deletes))
      assert(error.getMessage.contains("f.parquet") && error.getMessage.contains(reason))
    }
  }

  test(
    "a footer that claims billions of list elements or a thousand nested structs is rejected without allocating them",
    ParquetRules.damagedFiles
  ) {
    def file(footer: Array[Byte]): Array[Byte] =
      "PAR1".getBytes ++ footer ++ ByteBuffer.allocate(4).putInt(footer.length).array.reverse ++ "PAR1".getBytes
    val list = Array[Byte](0x15, 2, 0x19, 0xfc.toByte) ++ Fuzz.varint(Int.MaxValue.toLong)
    val text = Array[Byte](0x18) ++ Fuzz.varint(Int.MaxValue.toLong)
    val deep = Array.fill[Byte](1000)(0x1c)
    val endless = Array.fill[Byte](100)(0x16)
    // This call loads classes, so that their memory is not measured below.
    intercept[IcebergError](readAll(file(endless), deletes))
    Seq(list, text, deep, endless).foreach { footer =>
      val error = intercept[IcebergError](readAll(file(footer), deletes, MaxAllocatedByRejection))
      assert(error.getMessage.contains("f.parquet") && error.getMessage.contains("footer"))
    }
  }

  test("a flipped bit in a page of deletes never deletes another row", ParquetRules.damagedFiles) {
    val valid = sample(deletes, "uncompressed")
    val footer = ByteBuffer.wrap(valid.slice(valid.length - 8, valid.length - 4).reverse).getInt
    val rows = readAll(valid, deletes).map(_.toString)
    val rejections = (4 until valid.length - 8 - footer by 3).count { i =>
      val damaged = valid.updated(i, (valid(i) ^ (1 << i % 8)).toByte)
      try {
        assert(readAll(damaged, deletes).map(_.toString) == rows, s"byte $i")
        false
      } catch {
        case e: IcebergError =>
          assert(e.getMessage.contains("f.parquet"))
          true
      }
    }
    assert(rejections > 0)
  }

  test("a page that claims a huge uncompressed size is rejected without allocating it", ParquetRules.damagedFiles) {
    val bytes = new ByteArrayOutputStream
    val zip = new java.util.zip.GZIPOutputStream(bytes)
    zip.write(new Array[Byte](1 << 20))
    zip.close()
    val codec = new GuardedPages.Codecs("f").getDecompressor(CompressionCodecName.GZIP)
    val page = org.apache.parquet.bytes.BytesInput.from(bytes.toByteArray)
    assert(codec.decompress(page, 1 << 20).toByteArray.length == (1 << 20))
    Seq(Int.MaxValue, 1 << 30, -1).foreach { size =>
      val (error, allocated) = Allocation.of(intercept[ParquetDecodingException](codec.decompress(page, size)))
      assert(error.getMessage.contains(s"claims an uncompressed size of $size"))
      assert(allocated < MaxAllocatedByRejection, s"rejecting a page of $size bytes allocated $allocated bytes")
    }
  }

  test("the error for a missing codec contains the codec and the missing class") {
    val error =
      intercept[Unsupported](new GuardedPages.Codecs("f.parquet").getDecompressor(CompressionCodecName.BROTLI))
    assert(error.getMessage.contains("brotli compression of the file f.parquet"))
    assert(error.getMessage.contains("BrotliCodec"))
  }

  /** Counts how often each byte of a file is read, and how often the file is opened. */
  final private class RecordedFile(bytes: Array[Byte]) extends InputFile {
    val reads = new Array[Int](bytes.length)
    var opened = 0

    override def getLength: Long = bytes.length.toLong

    override def newStream(): SeekableInputStream = {
      opened += 1
      val stream = new Recorded
      new DelegatingSeekableInputStream(stream) {
        override def getPos: Long = stream.position.toLong
        override def seek(position: Long): Unit = stream.position = position.toInt
      }
    }

    final private class Recorded extends InputStream {
      var position = 0

      override def read(): Int = {
        val one = new Array[Byte](1)
        if (read(one, 0, 1) < 0) -1 else one(0) & 0xff
      }

      override def read(to: Array[Byte], offset: Int, length: Int): Int = {
        val count = math.min(length, bytes.length - position)
        if (count <= 0) -1
        else {
          System.arraycopy(bytes, position, to, offset, count)
          (position until position + count).foreach(i => reads(i) += 1)
          position += count
          count
        }
      }
    }
  }

  test("reading the footer of a file opens the file once and reads only the bytes of the footer, each once") {
    val bytes = sample(deletes, "zstd")
    val file = new RecordedFile(bytes)
    val reader = ParquetFileReader.open(ParquetInput.of(file, None))
    try assert(reader.getRecordCount == 200)
    finally reader.close()
    val size = ByteBuffer.wrap(bytes.slice(bytes.length - 8, bytes.length - 4).reverse).getInt
    val (head, footer) = file.reads.splitAt(bytes.length - 8 - size)
    assert(head.forall(_ == 0) && footer.forall(_ == 1) && file.opened == 1)
  }
}
