package iceberglite.tree.manifestlist

import scala.util.{Failure, Random, Success, Try}

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.avro.AvroCodec
import iceberglite.conformance.ManifestRules
import iceberglite.spec.{FormatVersion, IcebergError}
import iceberglite.spec.IcebergError.{InvalidMetadata, UnreadableFile}
import iceberglite.spec.file.{ManifestContent, ManifestFile}
import iceberglite.storage.FileIO
import iceberglite.table.MemoryFileIO
import iceberglite.tree.manifestlist.ManifestSamples._

/** Tests that if a damaged manifest or manifest list cannot be read, the `IcebergError` says what is wrong. */
class DamagedManifestSuite extends AnyFunSuite {
  private val specs = Map(0 -> byId)

  private def manifest(io: FileIO, codec: AvroCodec = AvroCodec.Default): ManifestFile = {
    val entries = (0 until 50).iterator.map(i => added(dataFile(s"f$i", Some(i.toLong))))
    val path = "m.avro"
    val content = ManifestContent.Data
    committed(
      Manifests.write(io, path, ManifestHeader(FormatVersion.V2, content, schema, byId, 7L), entries, codec),
      3L
    )
  }

  private def readAll(bytes: Array[Byte], listed: ManifestFile): Try[Int] = Try {
    val io = new MemoryFileIO
    io.write(listed.path, bytes)
    // Metrics are decoded when they are first accessed, so this function accesses the metrics of each file.
    Manifests.read(io, listed, specs, schema).map(_.file.metrics).toVector.map(maps).size
  }

  private def readList(bytes: Array[Byte]): Try[Int] = Try {
    val io = new MemoryFileIO
    io.write("snap.avro", bytes)
    ManifestLists.read(io, "snap.avro").size
  }

  private def messageOf(bytes: Array[Byte], listed: ManifestFile): String = readAll(bytes, listed) match {
    case Failure(e: UnreadableFile) =>
      assert(e.role == "manifest" && e.file == "m.avro" && e.reason.contains("roll the table back"))
      e.reason
    case other => fail(s"$other")
  }

  private val io = new MemoryFileIO
  private val validManifest = manifest(io)
  private val bytes = io.read("m.avro")

  test("the error for a missing manifest says that the file is a manifest") {
    val error = intercept[UnreadableFile](Manifests.read(new MemoryFileIO, validManifest, specs, schema))
    assert(error.getMessage.startsWith("Cannot read manifest m.avro: It does not exist"))
  }

  test("the error for an empty file or a file in another format says that the file is not an Avro file") {
    assert(messageOf("{}".getBytes, validManifest).contains("magic bytes of an Avro file"))
    assert(messageOf(Array.emptyByteArray, validManifest).contains("magic bytes of an Avro file"))
  }

  test("a file truncated anywhere is rejected, even between two blocks", ManifestRules.damaged) {
    bytes.indices.foreach { length =>
      readAll(bytes.take(length), validManifest) match {
        case Failure(_: UnreadableFile) => ()
        case other => fail(s"cut at $length: $other")
      }
    }
  }

  test("a manifest whose length differs from the length in the manifest list is read if it has all listed entries") {
    assert(readAll(bytes, validManifest.copy(length = 1000000L)).get == 50)
    assert(messageOf(bytes, validManifest.copy(length = 1000000L, addedFilesCount = Some(51))).contains("50 entries"))
  }

  test("the error for another kind of Avro file names the missing fields", ManifestRules.damaged) {
    val lists = new MemoryFileIO
    ManifestLists.write(
      lists,
      "snap.avro",
      ManifestListHeader(FormatVersion.V2, 1L, None, 1L, None),
      Seq(validManifest)
    )
    assert(messageOf(lists.read("snap.avro"), validManifest).contains("data_file (field 2)"))
    assert(readList(bytes).failed.get.getMessage.contains("manifest_path (field 500)"))
  }

  test("a data manifest that is listed as a delete manifest is rejected", ManifestRules.oneContent) {
    assert(messageOf(bytes, validManifest.copy(content = ManifestContent.Deletes)).contains("lists data"))
  }

  test("the error for an unknown partition spec contains its id") {
    val error = intercept[InvalidMetadata](Manifests.read(io, validManifest.copy(partitionSpecId = 8), specs, schema))
    assert(error.getMessage.contains("partition spec 8"))
  }

  for (codec <- Seq("uncompressed", "gzip", "snappy", "zstd"))
    test(s"reading a $codec manifest with randomly changed bytes succeeds or throws an IcebergError") {
      val target = new MemoryFileIO
      val listed = manifest(target, AvroCodec.of(Map("write.manifest.compression-codec" -> codec)))
      val original = target.read("m.avro")
      val random = new Random(codec.hashCode.toLong)
      (0 until 1500).foreach { i =>
        val changed = original.clone()
        (0 to random.nextInt(4)).foreach(_ => changed(random.nextInt(changed.length)) = random.nextInt().toByte)
        val cut = if (i % 3 == 0) changed.take(random.nextInt(changed.length)) else changed
        readAll(cut, listed) match {
          case Success(_) | Failure(_: IcebergError) => ()
          case Failure(other) => fail(s"change $i", other)
        }
      }
    }

  test("reading a manifest list with randomly changed bytes succeeds or throws an IcebergError") {
    val lists = new MemoryFileIO
    val many = (0 until 20).map(i => validManifest.copy(path = s"m$i.avro"))
    ManifestLists.write(
      lists,
      "l",
      ManifestListHeader(FormatVersion.V3, 1L, None, 1L, Some(0L)),
      many,
      AvroCodec.Uncompressed
    )
    val original = lists.read("l")
    val random = new Random(3)
    (0 until 2000).foreach { i =>
      val changed = original.clone()
      (0 to random.nextInt(3)).foreach(_ => changed(random.nextInt(changed.length)) = random.nextInt().toByte)
      readList(changed) match {
        case Success(_) | Failure(_: IcebergError) => ()
        case Failure(other) => fail(s"change $i", other)
      }
    }
  }
}
