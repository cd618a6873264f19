package iceberglite.encryption

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, ObjectInputStream, ObjectOutputStream}
import java.nio.charset.StandardCharsets.UTF_8

import org.apache.hadoop.conf.Configuration
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.data.{DataFormats, DataTarget}
import iceberglite.data.parquet.ParquetData
import iceberglite.metrics.MetricsModes
import iceberglite.puffin.{DeletedRows, DeletionVector, DeletionVectorFiles}
import iceberglite.spec.IcebergError.{UnreadableFile, Unsupported}
import iceberglite.spec.file.FileFormat
import iceberglite.spec.partition.PartitionTuple
import iceberglite.storage.{HadoopFileIO, TemporaryDirectory}
import iceberglite.table.MemoryFileIO

/** Tests data and delete files of encrypted tables: round trips, the absence of plain values, and swapped files. */
class EncryptedRowFilesSuite extends AnyFunSuite with EncryptedRowFiles with TemporaryDirectory {
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
