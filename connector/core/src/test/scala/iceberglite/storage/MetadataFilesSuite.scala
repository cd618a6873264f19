package iceberglite.storage

import java.nio.charset.StandardCharsets.UTF_8
import java.util.UUID

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.conformance.ManifestRules
import iceberglite.spec.TestMetadata
import iceberglite.spec.TestMetadata.Edits
import iceberglite.spec.IcebergError.{InvalidArgument, InvalidMetadata, UnreadableFile}
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.property.MetadataCompression
import iceberglite.table.MemoryFileIO
import iceberglite.tree.manifestlist.ManifestSamples

class MetadataFilesSuite extends AnyFunSuite {
  private val metadata =
    TestMetadata(ManifestSamples.schema, location = "/wh/db/t", properties = Map("owner" -> "me"))

  for (codec <- MetadataCompression.all)
    test(s"metadata written with the codec ${codec.name} is read whatever codec the file name states") {
      val io = new MemoryFileIO
      val bytes = MetadataFiles.bytes(metadata, codec)
      Seq(MetadataFiles.fileName(3, codec), "v3.metadata.json.gz", "v3.gz.metadata.json", "v3.metadata.json").distinct
        .foreach { name =>
          io.replace(name, bytes)
          assert(MetadataFiles.read(io, name) == metadata)
        }
    }

  test("metadata file names of file-system catalogs and of other catalogs are created, and their version is parsed") {
    val uuid = UUID.fromString("f79c3e09-677c-4bbd-a479-3f349cb785e7")
    assert(MetadataFiles.fileName(12, MetadataCompression.Uncompressed) == "v12.metadata.json")
    assert(MetadataFiles.fileName(12, MetadataCompression.Gzip) == "v12.gz.metadata.json")
    assert(MetadataFiles.fileName(12, uuid, MetadataCompression.Uncompressed) == s"00012-$uuid.metadata.json")
    assert(MetadataFiles.fileName(123456, uuid, MetadataCompression.Gzip) == s"123456-$uuid.gz.metadata.json")
    val versions = Map(
      "v12.metadata.json" -> Some(12),
      "file:/wh/v7/metadata/v12.gz.metadata.json" -> Some(12),
      "v12.metadata.json.gz" -> Some(12),
      s"/a/00012-$uuid.metadata.json" -> Some(12),
      s"123456-$uuid.gz.metadata.json" -> Some(123456),
      "version-hint.text" -> None,
      ".v12.metadata.json.tmp" -> None,
      "v12.metadata.json.crc" -> None,
      "vx.metadata.json" -> None,
      "v99999999999.metadata.json" -> None
    )
    versions.foreach { case (path, version) => assert(MetadataFiles.version(path) == version, path) }
  }

  test("the error for a missing or truncated metadata file contains its path", ManifestRules.damaged) {
    val io = new MemoryFileIO
    val missing = intercept[UnreadableFile](MetadataFiles.read(io, "v1.metadata.json"))
    assert(missing.getMessage.startsWith("Cannot read table metadata v1.metadata.json"))
    io.write("cut.gz.metadata.json", MetadataFiles.bytes(metadata, MetadataCompression.Gzip).dropRight(20))
    assert(intercept[UnreadableFile](MetadataFiles.read(io, "cut.gz.metadata.json")).reason.contains("gzip"))
    io.write("cut.metadata.json", MetadataFiles.bytes(metadata, MetadataCompression.Uncompressed).dropRight(20))
    assert(intercept[InvalidMetadata](MetadataFiles.read(io, "cut.metadata.json")).file == "cut.metadata.json")
  }

  test("metadata files of each layout are distinguished from data and delete files by their names") {
    val uuid = UUID.fromString("f79c3e09-677c-4bbd-a479-3f349cb785e7")
    Seq(
      "v1.metadata.json",
      "version-hint.text",
      s"snap-1-1-$uuid.avro",
      s"$uuid-m0.avro",
      s"root-123-2-$uuid.parquet",
      s"$uuid-1-m10.parquet"
    ).foreach(name => assert(MetadataFiles.isMetadataName(s"/wh/t/metadata/$name"), name))
    Seq(s"00000-0-$uuid-00001.parquet", s"00000-0-$uuid-00001-deletes.parquet", "root-x.parquet", "a-m0.parquet")
      .foreach(name => assert(!MetadataFiles.isMetadataName(s"/wh/t/metadata/$name"), name))
  }

  for (codec <- MetadataCompression.all)
    test(s"only the beginning of a metadata file is compared with a known version, with the codec ${codec.name}") {
      val io = new MemoryFileIO
      val current = metadata.edited(lastSequenceNumber = 5, lastUpdatedMs = 1000, currentSnapshotId = Some(7))
      val wide = current.edited(schemas = current.schemas.map { schema =>
        schema.copy(fields = schema.fields.map(_.copy(doc = Some("x" * (1 << 16)))))
      })
      Seq(current -> true, wide -> false).foreach { case (version, hasSnapshotInHead) =>
        val text = new String(MetadataFiles.bytes(version, MetadataCompression.Uncompressed), UTF_8)
        assert((text.indexOf("\"current-snapshot-id\"") < (1 << 16)) == hasSnapshotInHead)
        io.replace("v1.metadata.json", MetadataFiles.bytes(version, codec))
        def isSame(known: TableMetadata) = {
          val ofFile = MetadataFiles.isSame(io, "v1.metadata.json", known)
          if (hasSnapshotInHead) assert(ofFile == MetadataFiles.isSame(known, version))
          ofFile
        }
        assert(isSame(version))
        assert(!isSame(version.edited(uuid = Some(new UUID(0, 2)))))
        assert(!isSame(version.edited(lastUpdatedMs = 1001)))
        assert(!isSame(version.edited(lastSequenceNumber = 6)))
        assert(isSame(version.edited(currentSnapshotId = Some(8))) == !hasSnapshotInHead)
        assert(isSame(version.edited(currentSnapshotId = None)) == !hasSnapshotInHead)
      }
    }

  test("the error for an unknown codec lists the supported codecs") {
    assert(intercept[InvalidArgument](MetadataCompression.of("lz4")).getMessage.contains("none, gzip"))
  }
}
