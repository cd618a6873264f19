package iceberglite.encryption

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, ObjectInputStream, ObjectOutputStream}
import java.nio.charset.StandardCharsets.{ISO_8859_1, UTF_8}

import scala.collection.JavaConverters._
import scala.util.Random

import org.apache.hadoop.conf.Configuration
import org.apache.parquet.ParquetReadOptions
import org.apache.parquet.hadoop.ParquetFileReader
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.Fuzz
import iceberglite.data.{DataFormat, DataFormats, DataSource, DataTarget, Record, WrittenFile}
import iceberglite.data.parquet.ParquetData
import iceberglite.metrics.MetricsModes
import iceberglite.parquet.{ParquetEncryption, ParquetInput}
import iceberglite.puffin.{DeletedRows, DeletionVector, DeletionVectorFiles}
import iceberglite.spec.IcebergError.{UnreadableFile, Unsupported}
import iceberglite.spec.file.{ContentFile, FileFormat}
import iceberglite.spec.partition.PartitionTuple
import iceberglite.spec.property.MetricsMode
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.NestedField.{optional, required}
import iceberglite.spec.types.Type._
import iceberglite.storage.{FileIO, HadoopFileIO, TemporaryDirectory}
import iceberglite.table.MemoryFileIO

/** Tests data and delete files of encrypted tables: round trips, the absence of plain values, and changed files. */
class EncryptedRowFilesSuite extends AnyFunSuite with TemporaryDirectory {
  private val Marker = "Geheimnis"

  private val schema = Schema(
    0,
    Vector(required(1, "id", IntType), required(2, "same", IntType), optional(3, "name", StringType))
  )

  private def rows(count: Int): Vector[Record] =
    (0 until count).map(i => Record.of(i, i, if (i % 7 == 0) null else s"$Marker-$i")).toVector

  /** Small pages and row groups without dictionaries, so that pages have equal lengths. */
  private val properties = Map(
    "write.parquet.page-size-bytes" -> "1024",
    "write.parquet.page-row-limit" -> "100",
    "write.parquet.row-group-size-bytes" -> "20000",
    "write.parquet.row-group-check-min-record-count" -> "100",
    "write.parquet.compression-codec" -> "uncompressed",
    "write.parquet.dict-size-bytes" -> "1",
    "write.parquet.bloom-filter-enabled.column.name" -> "true",
    "write.parquet.bloom-filter-max-bytes" -> "1024",
    "write.avro.compression-codec" -> "uncompressed",
    "write.orc.compression-codec" -> "none"
  )

  private def write(storage: FileIO, path: String, format: DataFormat, rows: Seq[Record]): WrittenFile = {
    val modes = MetricsModes(schema.byId.map { case (id, _) => id -> (MetricsMode.Full: MetricsMode) })
    val writer = format.write(DataTarget(EncryptedStorage.of(storage), path, schema, properties, modes))
    rows.foreach(writer.write)
    writer.close()
  }

  private def contentFile(written: WrittenFile): ContentFile = written.dataFile(0, PartitionTuple.Empty, 0)

  private def read(io: FileIO, file: ContentFile): Vector[Record] = {
    val records = DataFormats.of(file.format).read(DataSource.of(io, file, None), schema.asStruct)
    try records.toVector
    finally records.close()
  }

  private def text(bytes: Array[Byte]): String = new String(bytes, ISO_8859_1)

  /**
   * Reads a file with the `changed` bytes. The result must be the `expected` rows, or an error that names the file and
   * shows no value of the rows. Returns whether the error was thrown.
   */
  private def check(changed: Array[Byte], file: ContentFile, expected: Vector[Record]): Boolean = {
    val io = new MemoryFileIO
    io.write(file.path, changed)
    try {
      assert(read(io, file) == expected)
      false
    } catch {
      case e: UnreadableFile =>
        assert(e.file == file.path)
        val messages = Iterator.iterate[Throwable](e)(_.getCause).take(10).takeWhile(_ != null).map(_.toString)
        assert(!messages.exists(_.contains(Marker)))
        true
    }
  }

  for (format <- DataFormats.all) {
    val name = format.format.name

    test(s"an encrypted $name file contains no value, no column name and no key, and is read with its key") {
      val io = new HadoopFileIO(new Configuration(false))
      val path = s"$directory/plain.$name"
      val file = contentFile(write(io, path, format, rows(2000)))
      val bytes = io.read(path)
      val key = FileKey.of(file).get
      assert(file.fileSizeInBytes == bytes.length)
      assert(key.fileLength == (if (format == ParquetData) None else Some(bytes.length.toLong)))
      Seq(Marker, "same", text(key.key), text(key.aadPrefix)).foreach(value => assert(!text(bytes).contains(value)))
      assert(read(io, file) == rows(2000))
      assert(!file.toString.contains(text(key.key)) && !key.toString.contains(text(key.key)))
    }

    test(s"a $name file with another key, without its key, or in the place of another file is rejected") {
      val io = new MemoryFileIO
      val Seq(a, b) = Seq("a", "b").map(p => contentFile(write(io, p, format, rows(500))))
      Seq(a.copy(keyMetadata = b.keyMetadata), a.copy(path = "b"), b.copy(path = "a")).foreach { swapped =>
        assert(check(io.read(swapped.path), swapped, Vector.empty))
      }
      assert(intercept[UnreadableFile](read(io, a.copy(keyMetadata = None))).file == "a")
    }

    test(s"a plain $name file in the place of an encrypted one is rejected") {
      val io = new MemoryFileIO
      val file = contentFile(write(io, "a", format, rows(10)))
      val modes = MetricsModes(Map.empty)
      val plain = format.write(DataTarget(io, "plain", schema, properties, modes))
      rows(10).foreach(plain.write)
      plain.close()
      assert(check(io.read("plain"), file, Vector.empty))
    }

    test(s"a $name file with changed bytes gives its rows or an error without values, one without its end the error") {
      val io = new MemoryFileIO
      val file = contentFile(write(io, "a", format, rows(1500)))
      val valid = io.read("a")
      val random = new Random(Fuzz.seed)
      val flipped = (0 until Fuzz.rounds(400, 60)).count { _ =>
        val bytes = valid.clone
        val at = random.nextInt(bytes.length)
        bytes(at) = (bytes(at) ^ (1 << random.nextInt(8))).toByte
        check(bytes, file, rows(1500))
      }
      assert(flipped > 0)
      (0 until Fuzz.rounds(100, 20)).foreach { _ =>
        assert(check(valid.take(random.nextInt(valid.length)), file, Vector.empty))
      }
      (0 until Fuzz.rounds(200, 40)).foreach { _ =>
        val length = 1 + random.nextInt(200)
        val Seq(from, to) = Seq.fill(2)(random.nextInt(valid.length - length))
        val bytes = valid.clone
        System.arraycopy(valid, from, bytes, to, length)
        check(bytes, file, rows(1500))
      }
    }
  }

  test("swapped pages of a column, of two columns, and of two row groups are rejected") {
    val io = new MemoryFileIO
    val file = contentFile(write(io, "a", ParquetData, rows(20000)))
    val key = FileKey.of(file)
    val options = ParquetEncryption.withKey(ParquetReadOptions.builder(), key).build()
    val reader = ParquetFileReader.open(ParquetInput.of(io, "a", key), options)
    val pages =
      try {
        for {
          (group, g) <- reader.getFooter.getBlocks.asScala.toVector.zipWithIndex
          (chunk, c) <- group.getColumns.asScala.toVector.zipWithIndex
          index = reader.readOffsetIndex(chunk)
          page <- 0 until index.getPageCount
        } yield (g, c, index.getOffset(page), index.getCompressedPageSize(page))
      } finally reader.close()
    assert(pages.map(_._1).distinct.size > 1)
    val valid = io.read("a")
    val pairs = for {
      (first, i) <- pages.zipWithIndex
      second <- pages.drop(i + 1)
      if first._4 == second._4
    } yield (first, second)
    val kinds = pairs.groupBy { case (a, b) => (a._1 == b._1, a._2 == b._2) }
    assert(kinds.keySet.size == 4)
    kinds.values.foreach { same =>
      new Random(Fuzz.seed).shuffle(same).take(Fuzz.rounds(40, 5)).foreach { case ((_, _, a, length), (_, _, b, _)) =>
        val bytes = valid.clone
        System.arraycopy(valid, a.toInt, bytes, b.toInt, length)
        System.arraycopy(valid, b.toInt, bytes, a.toInt, length)
        assert(check(bytes, file, Vector.empty))
      }
    }
  }

  for (format <- DataFormats.all.filter(_ != ParquetData))
    test(s"swapped, repeated and removed blocks of a ${format.format.name} file are rejected") {
      val io = new MemoryFileIO
      val large = (0 until 40000).map(i => Record.of(i, i, Marker * 10 + i)).toVector
      val file = contentFile(write(io, "a", format, large))
      val valid = io.read("a")
      val stored = (1 << 20) + AesGcm.Overhead
      def block(i: Int): Array[Byte] = valid.slice(8 + i * stored, 8 + (i + 1) * stored)
      val count = (valid.length - 8 + stored - 1) / stored
      assert(count >= 3)
      val original = (0 until count).map(block)
      val changes = Seq(
        original.updated(0, original(1)).updated(1, original(0)),
        original.updated(1, original(0)),
        original.init,
        original.patch(1, Nil, 1)
      )
      changes.foreach(blocks => assert(check(valid.take(8) ++ blocks.flatten, file, Vector.empty)))
    }

  test("a deletion vector is encrypted, and is read only with its key and from its own file") {
    val io = new MemoryFileIO
    val positions = DeletionVector.of(1L, 5L, 100000L)
    val Seq(a, b) = Seq("a.puffin", "b.puffin").map { path =>
      val rows = Seq(DeletedRows(s"data-of-$path", 0, PartitionTuple.Empty, positions))
      DeletionVectorFiles.write(EncryptedStorage.of(io), path, rows).head
    }
    assert(a.fileSizeInBytes == io.read("a.puffin").length)
    assert(!text(io.read("a.puffin")).contains("data-of") && !text(io.read("a.puffin")).contains("PFA1"))
    assert(DeletionVectorFiles.read(io, a) == positions)
    Seq(a.copy(keyMetadata = b.keyMetadata), a.copy(path = "b.puffin"), a.copy(fileSizeInBytes = 1)).foreach { wrong =>
      assert(intercept[UnreadableFile](DeletionVectorFiles.read(io, wrong)).file == wrong.path)
    }
  }

  test("the storage of an encrypted table rejects files that are not encrypted, before it creates them") {
    val memory = new MemoryFileIO
    val io = EncryptedStorage.of(memory)
    val plain = "a,b,c".getBytes(UTF_8)
    val writes = Seq[String => Any](io.write(_, plain), io.createExclusively(_, plain), io.replace(_, plain))
    // A name does not make a file metadata, which catalogs write directly.
    for (write <- writes; path <- Seq("t/data/f", "t/data/f.metadata.json"))
      assert(intercept[Unsupported](write(path)).what.contains(path))
    val out = iceberglite.storage.DataOutput.of(io, "t/data/g").create(0L)
    out.write(plain, 0, 2)
    intercept[Unsupported](out.write(plain, 2, 3))
    out.close()
    assert(memory.paths.isEmpty)
  }

  test("a file keeps its key when Java serializes it") {
    val file = contentFile(write(new MemoryFileIO, "a", DataFormats.of(FileFormat.Avro), rows(1)))
    val bytes = new ByteArrayOutputStream
    new ObjectOutputStream(bytes).writeObject(file)
    val copy = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray)).readObject()
    assert(copy == file)
  }
}
