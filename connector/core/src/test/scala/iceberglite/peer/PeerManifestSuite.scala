package iceberglite.peer

import java.nio.charset.StandardCharsets.US_ASCII

import scala.collection.JavaConverters._

import org.apache.iceberg.{DataFile, DeleteFile, ManifestFiles, ManifestWriter, PeerManifests}
import org.apache.iceberg.inmemory.InMemoryFileIO
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import iceberglite.conformance.ManifestRules
import iceberglite.peer.ManifestGenerators.{SnapshotId, schema}
import iceberglite.spec.FormatVersion
import iceberglite.spec.FormatVersion.V1
import iceberglite.spec.file.{ContentFile, EntryStatus, ManifestContent, ManifestEntry, ManifestFile}
import iceberglite.spec.partition.PartitionSpec
import iceberglite.spec.types.Type
import iceberglite.table.MemoryFileIO
import iceberglite.tree.manifestlist.{ManifestSamples, Manifests}
import iceberglite.tree.manifestlist.ManifestHeader

/** Tests that iceberg-lite and Apache Iceberg read each other's manifests, and write equal manifests. */
class PeerManifestSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 60)

  private val Path = "memory:/m.avro"
  private val SequenceNumber = 33L
  private val FirstRowId = 100000L

  private type Sample = (PartitionSpec, Vector[ManifestEntry])

  private def sample(version: FormatVersion, content: ManifestContent): Gen[Sample] =
    ManifestGenerators.spec(5).flatMap { spec =>
      ManifestGenerators.entries(spec, content, version).map(spec -> _)
    }

  private def committed(m: ManifestFile, version: FormatVersion): ManifestFile = {
    val isData = m.content == ManifestContent.Data
    val rowId = if (version >= FormatVersion.V3 && isData) Some(FirstRowId) else None
    ManifestSamples.committed(m, if (version == V1) 0L else SequenceNumber, rowId)
  }

  private def readWithLite(bytes: Array[Byte], m: ManifestFile, spec: PartitionSpec): Vector[ManifestEntry] = {
    val io = new MemoryFileIO
    io.write(m.path, bytes)
    val read = Manifests.read(io, m, Map(spec.specId -> spec), schema)
    read.map(e => e.copy(file = ManifestSamples.comparable(e.file))).toVector
  }

  private def readWithPeer(bytes: Array[Byte], m: ManifestFile, spec: PartitionSpec): Vector[ManifestEntry] = {
    val io = new InMemoryFileIO
    io.addFile(m.path, bytes)
    val specs = Map(spec.specId -> PeerFiles.spec(spec, schema))
    PeerManifests.rows(PeerFiles.toPeer(m), io, specs).map { row =>
      ManifestEntry(
        EntryStatus.all.find(_.code == row.status).get,
        row.snapshotId,
        row.sequenceNumber,
        row.fileSequenceNumber,
        PeerFiles.fromPeer(row.file, spec.partitionType(schema))
      )
    }
  }

  private def writeWithPeer(
      version: FormatVersion,
      content: ManifestContent,
      spec: PartitionSpec,
      entries: Seq[ManifestEntry],
      path: String = Path
  ): (ManifestFile, Array[Byte]) = {
    val io = new InMemoryFileIO
    val peerSpec = PeerFiles.spec(spec, schema)
    val output = io.newOutputFile(path)
    val written = content match {
      case ManifestContent.Data =>
        val writer = ManifestFiles.write(version.number, peerSpec, output, SnapshotId)
        writeAll[DataFile](writer, entries, PeerFiles.dataFile(_, peerSpec))
      case ManifestContent.Deletes =>
        val writer = ManifestFiles.writeDeleteManifest(version.number, peerSpec, output, SnapshotId)
        writeAll[DeleteFile](writer, entries, PeerFiles.deleteFile(_, peerSpec))
    }
    (PeerFiles.fromPeer(written), io.newInputFile(path).newStream().readAllBytes())
  }

  private def writeAll[F <: org.apache.iceberg.ContentFile[F]](
      writer: ManifestWriter[F],
      entries: Seq[ManifestEntry],
      of: ContentFile => F
  ): org.apache.iceberg.ManifestFile = {
    try entries.foreach { e =>
        val file = of(e.file)
        e.status match {
          case EntryStatus.Added => e.sequenceNumber.fold(writer.add(file))(writer.add(file, _))
          case EntryStatus.Existing => writer.existing(file, e.snapshotId.get, e.sequenceNumber.get, boxed(e))
          case EntryStatus.Deleted => writer.delete(file, e.sequenceNumber.get, boxed(e))
        }
      }
    finally writer.close()
    writer.toManifestFile
  }

  private def boxed(e: ManifestEntry): java.lang.Long = Long.box(e.fileSequenceNumber.get)

  private def writeWithLite(
      version: FormatVersion,
      content: ManifestContent,
      spec: PartitionSpec,
      entries: Seq[ManifestEntry]
  ): (ManifestFile, Array[Byte]) = {
    val io = new MemoryFileIO
    val written = Manifests.write(
      io,
      Path,
      ManifestHeader(version, content, schema, spec, SnapshotId),
      entries.iterator
    )
    (written, io.read(Path))
  }

  /**
   * Returns the manifest without its length and without partition bounds of UUIDs. These bounds differ, because Apache
   * Iceberg compares UUIDs as two signed longs, as Java does.
   */
  private def comparable(m: ManifestFile, spec: PartitionSpec): ManifestFile = {
    val fields = spec.partitionType(schema).fields
    val summaries = m.partitions.map(_.zip(fields).map { case (summary, field) =>
      if ((field.fieldType: Type) == Type.UuidType) summary.copy(lowerBound = None, upperBound = None) else summary
    })
    m.copy(length = 0L, partitions = summaries)
  }

  for {
    version <- FormatVersion.adopted
    content <- ManifestContent.all
    if content == ManifestContent.Data || version > V1
  } {
    val manifest = s"a version $version manifest of ${content.name}"

    test(
      s"Apache Iceberg reads $manifest of this library unchanged",
      ManifestRules.fieldsById,
      ManifestRules.versions,
      ManifestRules.metricsMaps,
      ManifestRules.partitionNames
    ) {
      forAll(sample(version, content)) { case (spec, entries) =>
        val (written, bytes) = writeWithLite(version, content, spec, entries)
        val listed = committed(written, version)
        val theirs = readWithPeer(bytes, listed, spec)
        assert(theirs == readWithLite(bytes, listed, spec))
        assert(theirs.map(_.file.path) == entries.map(_.file.path))
      }
    }

    test(
      s"this library reads $manifest of Apache Iceberg unchanged",
      ManifestRules.fieldsById,
      ManifestRules.inheritsNumbers
    ) {
      forAll(sample(version, content)) { case (spec, entries) =>
        val (written, bytes) = writeWithPeer(version, content, spec, entries)
        val listed = committed(written, version)
        assert(readWithLite(bytes, listed, spec) == readWithPeer(bytes, listed, spec))
      }
    }

    test(
      s"$manifest has the same counts and partition summaries as in Apache Iceberg",
      ManifestRules.summaries,
      ManifestRules.counts
    ) {
      forAll(sample(version, content)) { case (spec, entries) =>
        val (theirs, _) = writeWithPeer(version, content, spec, entries)
        val (ours, _) = writeWithLite(version, content, spec, entries)
        assert(comparable(ours, spec) == comparable(theirs, spec))
      }
    }
  }

  for (content <- ManifestContent.all)
    test(
      s"manifests of ${content.name} that Apache Iceberg writes for versions 3 and 4 are read as the same entries",
      Slow
    ) {
      // Apache Iceberg writes no file for an empty manifest of version 4.
      forAll(sample(FormatVersion.V3, content).suchThat(_._2.nonEmpty)) { case (spec, entries) =>
        val (avro, avroBytes) = writeWithPeer(FormatVersion.V3, content, spec, entries)
        val (parquet, bytes) = writeWithPeer(FormatVersion.V4, content, spec, entries, "memory:/m.parquet")
        assert(new String(bytes.take(4), US_ASCII) == "PAR1")
        val read = readWithLite(bytes, committed(parquet, FormatVersion.V3), spec)
        assert(read == readWithLite(avroBytes, committed(avro, FormatVersion.V3), spec) && read.size == entries.size)
      }
    }

  test("the key-value metadata of a manifest, except schema-id, is as in Apache Iceberg", ManifestRules.keyValues) {
    val spec = ManifestSamples.byId
    FormatVersion.adopted.foreach { version =>
      val content = ManifestContent.Data
      val Seq(ours, theirs) =
        Seq(writeWithLite(version, content, spec, Nil), writeWithPeer(version, content, spec, Nil))
          .map { case (_, bytes) => header(bytes) }
      // Apache Iceberg omits the key `schema-id`, which the specification requires in version 2 and later.
      assert((theirs.keySet - "schema-id") == (ours.keySet - "schema-id"))
      Seq("format-version", "partition-spec-id", "content").foreach(k => assert(ours.get(k) == theirs.get(k)))
      assert(PeerFiles.schema(schema).sameSchema(org.apache.iceberg.SchemaParser.fromJson(ours("schema"))))
    }
  }

  private def header(bytes: Array[Byte]): Map[String, String] = {
    import org.apache.avro.file.DataFileStream
    import org.apache.avro.generic.{GenericDatumReader, GenericRecord}
    val in = new DataFileStream(new java.io.ByteArrayInputStream(bytes), new GenericDatumReader[GenericRecord])
    in.getMetaKeys.asScala.filterNot(k => k.startsWith("avro.") || k == "iceberg.schema")
      .map(k => k -> in.getMetaString(k)).toMap
  }
}
