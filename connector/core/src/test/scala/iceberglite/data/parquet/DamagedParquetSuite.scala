package iceberglite.data.parquet

import java.io.ByteArrayOutputStream
import java.lang.management.ManagementFactory
import java.nio.ByteBuffer
import java.nio.file.{Files, Paths}

import org.apache.parquet.hadoop.metadata.CompressionCodecName
import org.scalacheck.Gen
import org.scalacheck.rng.Seed
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.{Fuzz, Rounds}
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

/** Data and delete files that are damaged, by accident or on purpose. */
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

  /** Memory allowance for reading any small file. */
  private val MostBytes = 512L << 20

  private def readAll(bytes: Array[Byte], schema: Schema): Vector[Record] = {
    val memory = new MemoryFileIO
    memory.write("f.parquet", bytes)
    val threads = ManagementFactory.getThreadMXBean.asInstanceOf[com.sun.management.ThreadMXBean]
    val before = threads.getThreadAllocatedBytes(Thread.currentThread.getId)
    val rows = ParquetData.read(DataSource(memory, "f.parquet", bytes.length.toLong), schema.asStruct)
    try rows.take(10000).toVector
    finally {
      rows.close()
      val allocated = threads.getThreadAllocatedBytes(Thread.currentThread.getId) - before
      if (allocated > MostBytes) throw new AssertionError(s"$allocated bytes for a file of ${bytes.length}")
    }
  }

  Seq(
    ("data", schema, "uncompressed"),
    ("data", schema, "zstd"),
    ("nested", nested, "snappy"),
    ("deletes", deletes, "gzip")
  )
    .foreach { case (what, columns, codec) =>
      test(s"damaged $what files ($codec) give rows or an error", ParquetRules.damagedFiles, Rounds) {
        val valid = sample(columns, codec)
        assert(readAll(valid, columns).size == 200)
        Fuzz.bytes(s"parquet $what $codec", 50, Vector(valid))(readAll(_, columns))
        Fuzz.run(s"parquet footer $what $codec", 80) { random =>
          val size = ByteBuffer.wrap(valid.slice(valid.length - 8, valid.length - 4).reverse).getInt
          val (head, footer) = valid.dropRight(8).splitAt(valid.length - 8 - size)
          val damaged = Fuzz.mutate(footer, random)
          head ++ damaged ++ ByteBuffer.allocate(4).putInt(damaged.length).array.reverse ++ "PAR1".getBytes
        }(readAll(_, columns))
      }
    }

  test("the error for a truncated, empty or foreign file names it", ParquetRules.damagedFiles) {
    val valid = sample(deletes, "zstd")
    val broken = Seq(
      Array.emptyByteArray -> "not a Parquet file",
      valid.dropRight(1) -> "PAR1",
      valid.take(100) -> "PAR1",
      (valid.dropRight(4) ++ "PARE".getBytes) -> "encrypted",
      (valid.dropRight(8) ++ Array[Byte](-1, -1, -1, 127) ++ "PAR1".getBytes) -> "footer"
    )
    broken.foreach { case (bytes, said) =>
      val error = intercept[UnreadableFile](readAll(bytes, deletes))
      assert(error.getMessage.contains("f.parquet") && error.getMessage.contains(said))
    }
  }

  test(
    "a footer that claims a list of billions, or a hundred nested structs, is rejected",
    ParquetRules.damagedFiles
  ) {
    def file(footer: Array[Byte]): Array[Byte] =
      "PAR1".getBytes ++ footer ++ ByteBuffer.allocate(4).putInt(footer.length).array.reverse ++ "PAR1".getBytes
    val list = Array[Byte](0x15, 2, 0x19, 0xfc.toByte) ++ Fuzz.varint(Int.MaxValue.toLong)
    val text = Array[Byte](0x18) ++ Fuzz.varint(Int.MaxValue.toLong)
    val deep = Array.fill[Byte](1000)(0x1c)
    val endless = Array.fill[Byte](100)(0x16)
    Seq(list, text, deep, endless).foreach { footer =>
      val error = intercept[IcebergError](readAll(file(footer), deletes))
      assert(error.getMessage.contains("f.parquet") && error.getMessage.contains("footer"))
    }
  }

  test("a flipped bit in a page of deletes never deletes another row", ParquetRules.damagedFiles) {
    val valid = sample(deletes, "uncompressed")
    val footer = ByteBuffer.wrap(valid.slice(valid.length - 8, valid.length - 4).reverse).getInt
    val rows = readAll(valid, deletes).map(_.toString)
    val refused = (4 until valid.length - 8 - footer by 3).count { place =>
      val damaged = valid.updated(place, (valid(place) ^ (1 << place % 8)).toByte)
      try {
        assert(readAll(damaged, deletes).map(_.toString) == rows, s"byte $place")
        false
      } catch {
        case e: IcebergError =>
          assert(e.getMessage.contains("f.parquet"))
          true
      }
    }
    assert(refused > 0)
  }

  test("a page that claims a huge uncompressed size is rejected", ParquetRules.damagedFiles) {
    val bytes = new ByteArrayOutputStream
    val zip = new java.util.zip.GZIPOutputStream(bytes)
    zip.write(new Array[Byte](1 << 20))
    zip.close()
    val codec = new GuardedPages.Codecs("f").getDecompressor(CompressionCodecName.GZIP)
    val page = org.apache.parquet.bytes.BytesInput.from(bytes.toByteArray)
    assert(codec.decompress(page, 1 << 20).toByteArray.length == (1 << 20))
    Seq(Int.MaxValue, 1 << 30, -1).foreach { size =>
      val error = intercept[org.apache.parquet.io.ParquetDecodingException](codec.decompress(page, size))
      assert(error.getMessage.contains(s"claims an uncompressed size of $size"))
    }
  }

  test("the error for a missing codec names it and the library that provides it") {
    val error =
      intercept[Unsupported](new GuardedPages.Codecs("f.parquet").getDecompressor(CompressionCodecName.BROTLI))
    assert(error.getMessage.contains("brotli compression, as in f.parquet") && error.getMessage.contains("BrotliCodec"))
  }

  test("only the footer of a file is read, and only once") {
    val memory = new MemoryFileIO
    memory.write("f.parquet", sample(deletes, "zstd"))
    val file = ParquetInput.of(memory, "f.parquet")
    val reader = org.apache.parquet.hadoop.ParquetFileReader.open(file)
    try assert(reader.getRecordCount == 200)
    finally reader.close()
  }
}
