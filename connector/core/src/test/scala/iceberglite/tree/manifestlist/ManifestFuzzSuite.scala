package iceberglite.tree.manifestlist

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.{Fuzz, MoreRoundsInSlowTier}
import iceberglite.avro.{AvroCodec, AvroContainerReader, AvroContainerWriter}
import iceberglite.conformance.ManifestRules
import iceberglite.spec.{FormatVersion, SampleTables}
import iceberglite.spec.file.{Content, FileFormat, ManifestContent, ManifestFile}
import iceberglite.spec.file.EntryStatus.{Deleted, Existing}
import iceberglite.spec.partition.PartitionTuple
import iceberglite.spec.property.MetadataCompression
import iceberglite.storage.MetadataFiles
import iceberglite.table.MemoryFileIO
import iceberglite.tree.manifestlist.ManifestSamples._

/** Tests that reading a damaged manifest, manifest list or metadata file succeeds or throws an `IcebergError`. */
@MoreRoundsInSlowTier
class ManifestFuzzSuite extends AnyFunSuite {
  private val specs = Map(0 -> byId, 4 -> wideSpec)
  private val codecs = Seq("uncompressed", "gzip", "snappy", "zstd")

  private def codec(name: String): AvroCodec = AvroCodec.of(Map("write.manifest.compression-codec" -> name))

  private def manifest(version: FormatVersion, name: String): (ManifestFile, Array[Byte]) = {
    val io = new MemoryFileIO
    val numbered = version > FormatVersion.V1
    val entries = (0 until 30).map { i =>
      val file = dataFile(s"f$i", Some(i % 5L), i.toLong)
      i % 3 match {
        case 0 => added(file)
        case 1 if numbered => existing(file, 5L, 4L).copy(status = Existing)
        case _ if numbered => deleted(file, 7L, 3L).copy(status = Deleted)
        case _ => added(file)
      }
    }
    val listed =
      Manifests.write(
        io,
        "m.avro",
        ManifestHeader(version, ManifestContent.Data, schema, byId, 7L),
        entries.iterator,
        codec(name)
      )
    (committed(listed, if (numbered) 9L else 0L, Some(1000L)), io.read("m.avro"))
  }

  private def deletes: (ManifestFile, Array[Byte]) = {
    val io = new MemoryFileIO
    val vector = dataFile("dv").copy(
      content = Content.PositionDeletes,
      format = FileFormat.Puffin,
      sortOrderId = None,
      referencedDataFile = Some("file:/wh/db/t/data/a.parquet"),
      contentOffset = Some(4L),
      contentSizeInBytes = Some(44L)
    )
    val equality = dataFile("eq").copy(content = Content.EqualityDeletes, equalityIds = Vector(1, 2))
    val entries = Iterator.fill(10)(Seq(added(vector), added(equality))).flatten
    val listed = Manifests.write(
      io,
      "m.avro",
      ManifestHeader(FormatVersion.V3, ManifestContent.Deletes, schema, byId, 7L),
      entries,
      AvroCodec.Uncompressed
    )
    (committed(listed, 9L), io.read("m.avro"))
  }

  private def readAll(bytes: Array[Byte], listed: ManifestFile): Unit = {
    val io = new MemoryFileIO
    io.write(listed.path, bytes)
    Manifests.read(io, listed, specs, schema).foreach(e => maps(e.file.metrics))
  }

  for (name <- codecs)
    test(s"reading a damaged manifest with the codec $name succeeds or throws an IcebergError", ManifestRules.damaged) {
      val (listed, bytes) = manifest(FormatVersion.V3, name)
      Fuzz.bytes(s"manifest $name", 600, Vector(bytes))(readAll(_, listed))
    }

  test(
    "reading a damaged manifest of any version, or a damaged delete manifest, succeeds or throws an IcebergError",
    ManifestRules.damaged
  ) {
    val all = FormatVersion.adopted.map(manifest(_, "uncompressed")) :+ deletes
    all.zipWithIndex.foreach { case ((listed, bytes), i) =>
      Fuzz.bytes(s"manifest $i", 300, Vector(bytes))(readAll(_, listed))
    }
  }

  test(
    "reading a damaged manifest with partition values of every type succeeds or throws an IcebergError",
    ManifestRules.damaged
  ) {
    val io = new MemoryFileIO
    val tuple = PartitionTuple(everyType.map { case (_, value) => Some(value) })
    val entries = Iterator.fill(5)(added(dataFile("f").copy(specId = 4, partition = tuple)))
    val content = ManifestContent.Data
    val written =
      Manifests.write(
        io,
        "m.avro",
        ManifestHeader(FormatVersion.V2, content, wideSchema, wideSpec, 7L),
        entries,
        AvroCodec.Uncompressed
      )
    val listed = committed(written, 3L)
    Fuzz.bytes("wide manifest", 600, Vector(io.read("m.avro"))) { bytes =>
      val damaged = new MemoryFileIO
      damaged.write("m.avro", bytes)
      Manifests.read(damaged, listed, specs, wideSchema).foreach(e => maps(e.file.metrics))
    }
  }

  test(
    "reading a manifest with a damaged Avro schema in its header succeeds or throws an IcebergError",
    ManifestRules.damaged
  ) {
    val (listed, bytes) = manifest(FormatVersion.V2, "uncompressed")
    val header = AvroContainerReader.open(bytes)
    val columns = new ManifestEntryColumns(new PartitionCodec(byId.partitionType(schema)))
    val entry = added(dataFile("a")).copy(snapshotId = Some(7L))
    val properties = header.metadata.toSeq.filterNot(_._1.startsWith("avro."))
    Fuzz.json("schema of a manifest", 800, Vector(header.schema)) { json =>
      val writer = new AvroContainerWriter(json, properties, AvroCodec.Uncompressed)
      (0 until 3).foreach(_ => writer.add(columns.write(entry, _, FormatVersion.V2)))
      val written = writer.finish()
      // The manifest list states the length of the damaged file. Otherwise the file would be rejected as truncated.
      readAll(written, listed.copy(length = written.length.toLong))
    }
  }

  test("reading a damaged manifest list succeeds or throws an IcebergError", ManifestRules.damaged) {
    val (listed, _) = manifest(FormatVersion.V2, "gzip")
    val many = (0 until 20).map(i => listed.copy(path = s"m$i.avro", firstRowId = None))
    val lists = codecs.map { name =>
      val io = new MemoryFileIO
      ManifestLists.write(io, "l", ManifestListHeader(FormatVersion.V3, 1L, None, 1L, Some(0L)), many, codec(name))
      io.read("l")
    }
    Fuzz.bytes("manifest list", 2000, lists.toVector) { bytes =>
      val io = new MemoryFileIO
      io.write("l", bytes)
      ManifestLists.read(io, "l")
    }
  }

  test("reading a damaged gzip metadata file succeeds or throws an IcebergError", ManifestRules.damaged) {
    val bytes = MetadataFiles.bytes(SampleTables.withHistory(FormatVersion.V2), MetadataCompression.Gzip)
    Fuzz.bytes("gzip metadata", 1000, Vector(bytes)) { damaged =>
      val io = new MemoryFileIO
      io.write("v1.gz.metadata.json", damaged)
      MetadataFiles.read(io, "v1.gz.metadata.json")
    }
  }
}
