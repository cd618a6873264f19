package iceberglite.storage

import java.io.{InputStream, RandomAccessFile}
import java.nio.ByteBuffer
import java.nio.file.{Files, Path, Paths}
import java.util.concurrent.{Executors, TimeUnit}

import org.apache.hadoop.conf.Configuration
import org.apache.parquet.hadoop.util.HadoopInputFile
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.avro.AvroContainer
import iceberglite.catalog.{Catalogs, PathTables}
import iceberglite.parquet.{DamagedFooter, ParquetInput}
import iceberglite.puffin.{DeletionVectorFiles, PuffinFile}
import iceberglite.spec.IcebergError.{InvalidMetadata, UnreadableFile}
import iceberglite.spec.file.{Content, ContentFile, FileFormat, ManifestContent, ManifestFile, Metrics}
import iceberglite.spec.partition.{PartitionSpec, PartitionTuple}
import iceberglite.table._
import iceberglite.table.TestTables._
import iceberglite.table.action.FastAppend
import iceberglite.tree.{ManifestCache, TreeReader}
import iceberglite.tree.manifestlist.{ManifestLists, Manifests}

/**
 * Tests that reading an endless file, a sparse file or a pipe fails with an error that contains the path, in bounded
 * time and memory.
 */
class BoundedReadSuite extends AnyFunSuite with TemporaryDirectory {
  private val io = new HadoopFileIO(StorageSettings.configuration(new Configuration(false), Map.empty))
  private val Huge = 40L << 30

  private def path(name: String): Path = directory.resolve(name)

  private def createSparseFile(name: String, beginning: String, length: Long = Huge): Path = {
    val file = new RandomAccessFile(path(name).toFile, "rw")
    try {
      file.write(beginning.getBytes("ISO-8859-1"))
      file.setLength(length)
    } finally file.close()
    path(name)
  }

  private def createPipe(name: String): Path = {
    assert(new ProcessBuilder("mkfifo", path(name).toString).start().waitFor() == 0)
    path(name)
  }

  private def createLink(name: String, to: String): Path = Files.createSymbolicLink(path(name), Paths.get(to))

  /** Runs a read that must fail within 20 s with an error that contains the file name, and returns the error. */
  private def rejection(name: String)(read: => Any): UnreadableFile = {
    val executor = Executors.newSingleThreadExecutor(work => {
      val daemon = new Thread(work)
      daemon.setDaemon(true)
      daemon
    })
    val error = executor.submit(() => intercept[UnreadableFile](read)).get(20, TimeUnit.SECONDS)
    executor.shutdown()
    assert(error.getMessage.contains(name), error.getMessage)
    error
  }

  /** Creates endless and sparse files and a pipe. Some sparse files start with the magic bytes of a format. */
  private def hostileFiles(ending: String, magics: String*): Seq[Path] =
    Seq(
      createLink(s"zero$ending", "/dev/zero"),
      createLink(s"random$ending", "/dev/urandom"),
      createPipe(s"pipe$ending")
    ) ++
      ("" +: magics).zipWithIndex.map { case (magic, i) => createSparseFile(s"sparse$i$ending", magic) } :+
      createSparseFile(s"medium$ending", "", 100L << 20)

  test("endless and sparse table metadata files, and pipes, are rejected") {
    hostileFiles(".metadata.json", "{", "\u001f\u008b\b").foreach { file =>
      rejection(file.toString)(MetadataFiles.read(io, s"file:$file"))
      if (Files.size(file) != (100L << 20)) rejection(file.toString)(io.read(file.toString))
    }
  }

  test("endless and sparse manifest lists and manifests, and pipes, are rejected even if the listed length is wrong") {
    val manifest = ManifestFile("", 100, 0, ManifestContent.Data, 1, 1, 1, None, None, None, None, None, None, None)
    hostileFiles(".avro", "Obj\u0001").foreach { file =>
      rejection(file.toString)(ManifestLists.read(io, file.toString))
      for (length <- Seq(0L, 100L, 1L << 40)) {
        val entries = manifest.copy(path = file.toString, length = length)
        rejection(file.toString) {
          Manifests.read(io, entries, Map(0 -> PartitionSpec.Unpartitioned), TestTables.schema).size
        }
      }
      if (!file.toString.contains("sparse1")) rejection(file.toString)(Manifests.partitionSpecId(io, file.toString))
    }
  }

  test("truncated metadata files of a table, and an extended manifest, are rejected") {
    val tables = new PathTables(io, environment)
    val table = tables.create(s"$directory/t", unpartitioned()).transaction(Map.empty, environment)
      .add(new FastAppend(Vector(file("x")))).commit()
    val tree = new TreeReader(io, table.metadata, ManifestCache.Disabled)
    val list = table.currentSnapshot.get.manifestList.get
    val manifest = tree.manifests(table.currentSnapshot.get).head
    val content = Files.readAllBytes(Paths.get(manifest.path))
    Files.write(Paths.get(manifest.path), content.take(content.length / 2))
    rejection(manifest.path)(tree.entries(manifest).size)
    // A file that is longer than its recorded length is read to its end, and the additional bytes are an error.
    Files.write(Paths.get(manifest.path), content ++ content.takeRight(16))
    rejection(manifest.path)(tree.entries(manifest).size)
    Files.write(Paths.get(list), Files.readAllBytes(Paths.get(list)).take(50))
    rejection(list)(tree.manifests(table.currentSnapshot.get))
    Files.write(Paths.get(table.metadataLocation), Files.readAllBytes(Paths.get(table.metadataLocation)).take(50))
    intercept[InvalidMetadata](MetadataFiles.read(io, table.metadataLocation))
  }

  test("a table whose version hint is an endless or sparse file or a pipe can be loaded, because the hint is ignored") {
    val catalog = Catalogs.open("lite", Map("type" -> "hadoop", "warehouse" -> s"$directory/wh"), io)
    val id = TableIdentifier(Vector("db"), "t")
    val table = catalog.create(id, unpartitioned())
    val hint = Paths.get(table.location, "metadata", "version-hint.text")
    for (file <- hostileFiles(".hint", "1")) {
      io.delete(hint.toString)
      Files.createSymbolicLink(hint, file)
      val other = new HadoopFileIO(new Configuration(false))
      val found = Catalogs.open("lite", Map("type" -> "hadoop", "warehouse" -> s"$directory/wh"), other).table(id)
      assert(found.metadataLocation == table.metadataLocation)
    }
  }

  test("endless and sparse Puffin files, pipes, and deletion vectors with a false length in them are rejected") {
    hostileFiles(".puffin", "PFA1").foreach { file =>
      for (size <- Seq(None, Some(100L), Some(Huge))) rejection(file.toString)(PuffinFile.open(io, file.toString, size))
      for (size <- Seq(100L, (1L << 31) - 10); claimed <- Seq(Huge, (1L << 31) - 1)) {
        val vector = ContentFile(
          Content.PositionDeletes,
          file.toString,
          FileFormat.Puffin,
          0,
          PartitionTuple.Empty,
          1,
          claimed,
          Metrics.Empty,
          referencedDataFile = Some("data"),
          contentOffset = Some(4L),
          contentSizeInBytes = Some(size)
        )
        rejection(file.toString)(DeletionVectorFiles.read(io, vector))
      }
    }
  }

  test("a Parquet file with a false footer length is rejected") {
    val file = createSparseFile("x.parquet", "PAR1", 3L << 30)
    val out = new RandomAccessFile(file.toFile, "rw")
    try {
      out.seek((3L << 30) - 8)
      out.write(ByteBuffer.allocate(8).putInt(Integer.reverseBytes(Int.MaxValue - 100)).put("PAR1".getBytes).array)
    } finally out.close()
    rejection(file.toString)(ParquetInput.of(io, file.toString))
    val pipe = new org.apache.hadoop.fs.Path(createPipe("other.parquet").toUri)
    val inputFile = HadoopInputFile.fromPath(pipe, new Configuration)
    assert(intercept[DamagedFooter](ParquetInput.of(inputFile, None)).getMessage.contains("0 bytes"))
    rejection("pipe.parquet")(ParquetInput.of(io, createPipe("pipe.parquet").toString))
  }

  test("an endless stream is read only as far as its format and the limits require") {
    final class Endless(beginning: Array[Byte]) extends InputStream {
      var bytesRead = 0L
      override def read(): Int = {
        bytesRead += 1
        if (bytesRead <= beginning.length) beginning((bytesRead - 1).toInt) & 0xff else 0
      }
      override def read(bytes: Array[Byte], offset: Int, length: Int): Int = {
        (offset until offset + length).foreach(i => bytes(i) = read().toByte)
        length
      }
    }
    val wrongMagic = new Endless(Array[Byte](1))
    intercept[UnreadableFile](AvroContainer.Bounds.read("x", wrongMagic))
    assert(wrongMagic.bytesRead < (20L << 20))
    val bounds = AvroContainer.Bounds.copy(maxBytes = 50L << 20)
    val rightMagic = new Endless(AvroContainer.Magic)
    val error = intercept[UnreadableFile](bounds.read("x", rightMagic))
    assert(error.getMessage.contains("limit of 52428800 bytes for an Avro file"))
    assert(rightMagic.bytesRead <= (50L << 20) + 1)
  }
}
