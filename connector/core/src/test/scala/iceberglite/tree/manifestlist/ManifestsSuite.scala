package iceberglite.tree.manifestlist

import java.io.ByteArrayInputStream

import scala.collection.JavaConverters._

import org.apache.avro.file.DataFileStream
import org.apache.avro.generic.{GenericDatumReader, GenericRecord}
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.conformance.ManifestRules
import iceberglite.spec.FormatVersion
import iceberglite.spec.FormatVersion.{V1, V2, V3}
import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.file.{Content, FileFormat, ManifestContent, ManifestEntry, ManifestFile, Metrics}
import iceberglite.spec.file.EntryStatus.{Added, Existing}
import iceberglite.spec.file.ManifestContent.Data
import iceberglite.spec.partition.PartitionTuple
import iceberglite.spec.types.{NestedField, SingleValue}
import iceberglite.spec.types.Literal._
import iceberglite.spec.types.Type.{DoubleType, StructType}
import iceberglite.storage.FileIO
import iceberglite.table.MemoryFileIO
import iceberglite.tree.manifestlist.ManifestSamples._

class ManifestsSuite extends AnyFunSuite {
  private val specs = Map(0 -> byId, 4 -> wideSpec)

  private def write(io: FileIO, version: FormatVersion, entries: ManifestEntry*): ManifestFile =
    Manifests.write(io, "m.avro", ManifestHeader(version, Data, schema, byId, 7L), entries.iterator)

  private def read(io: FileIO, manifest: ManifestFile): Vector[ManifestEntry] =
    Manifests.read(io, manifest, specs, schema).toVector

  private def stream(io: FileIO, path: String = "m.avro"): DataFileStream[GenericRecord] =
    new DataFileStream(new ByteArrayInputStream(io.read(path)), new GenericDatumReader[GenericRecord])

  for (version <- FormatVersion.adopted) {
    test(s"a version $version manifest returns the files that were written to it") {
      val io = new MemoryFileIO
      val files = Vector(dataFile("a"), dataFile("b", None), dataFile("c").copy(metrics = Metrics.Empty))
      val manifest = committed(write(io, version, files.map(added): _*), if (version == V1) 0L else 12L)
      val readBack = read(io, manifest)
      assert(readBack.map(e => comparable(e.file)) == files)
      assert(readBack.forall(_.status == Added))
    }

    test(
      s"Avro's generic reader finds the fields of version $version by name, with their ids",
      ManifestRules.versions,
      ManifestRules.version1Writer
    ) {
      val io = new MemoryFileIO
      write(io, version, added(dataFile("a")))
      val in = stream(io)
      val record = in.next()
      val file = record.get("data_file").asInstanceOf[GenericRecord]
      assert(record.getSchema.getFullName == "manifest_entry" && file.getSchema.getFullName == "r2")
      assert(record.get("status") == 1 && record.get("snapshot_id") == 7L)
      assert(file.get("file_format").toString == "PARQUET" && file.get("record_count") == 10L)
      assert(file.get("partition").asInstanceOf[GenericRecord].get("id") == 1L)
      assert(file.get("partition").asInstanceOf[GenericRecord].getSchema.getFullName == "r102")
      assert(file.getSchema.hasFields && (file.getSchema.getField("block_size_in_bytes") != null) == (version == V1))
      assert((file.getSchema.getField("content") != null) == (version > V1))
      assert((record.getSchema.getField("sequence_number") != null) == (version > V1))
      assert((file.getSchema.getField("first_row_id") != null) == (version == V3))
      val nulls = file.get("null_value_counts").asInstanceOf[java.util.List[GenericRecord]].asScala
      assert(nulls.map(e => e.get("key") -> e.get("value")) == Seq(1 -> 0L, 2 -> 3L, 3 -> 1L))
      assert(file.getSchema.getField("column_sizes").schema.toString.contains("\"k117_v118\""))
    }

    test(
      s"the key-value metadata of version $version follows the specification",
      ManifestRules.keyValues,
      ManifestRules.version1Writer
    ) {
      val io = new MemoryFileIO
      write(io, version)
      val in = stream(io)
      assert(in.getMetaString("schema").contains("\"schema-id\":3"))
      assert(in.getMetaString("schema-id") == "3")
      assert(in.getMetaString("partition-spec").startsWith("[") && in.getMetaString("partition-spec").contains("1000"))
      assert(in.getMetaString("partition-spec-id") == "0")
      assert(in.getMetaString("format-version") == version.toString)
      assert(Option(in.getMetaString("content")) == (if (version == V1) None else Some("data")))
    }
  }

  test(
    "entries inherit the snapshot id and the sequence numbers that they lack, and keep their own values",
    ManifestRules.inheritsSnapshot,
    ManifestRules.inheritsNumbers,
    ManifestRules.explicitNumbers
  ) {
    val io = new MemoryFileIO
    val numbered = added(dataFile("d")).copy(sequenceNumber = Some(3L))
    val manifest =
      write(io, V2, added(dataFile("a")), existing(dataFile("b"), 5L, 4L), deleted(dataFile("c"), 6L, 2L), numbered)
    val entries = read(io, committed(manifest, 12L))
    assert(entries.map(_.snapshotId) == Vector(Some(7L), Some(5L), Some(6L), Some(7L)))
    assert(entries.map(_.sequenceNumber) == Vector(Some(12L), Some(4L), Some(2L), Some(3L)))
    assert(entries.map(_.fileSequenceNumber) == Vector(Some(12L), Some(4L), Some(2L), Some(12L)))
  }

  test(
    "entries of version 1 have the sequence number 0, whatever the manifest list contains",
    ManifestRules.version1Numbers
  ) {
    val io = new MemoryFileIO
    val manifest = write(io, V1, added(dataFile("a")), existing(dataFile("b"), 5L, 0L))
    Seq(0L, 9L).foreach { number =>
      val entries = read(io, committed(manifest, number))
      assert(entries.forall(e => e.sequenceNumber.contains(0L) && e.fileSequenceNumber.contains(0L)))
    }
  }

  test("an entry of a manifest that is not committed yet has no sequence number") {
    val io = new MemoryFileIO
    val entry = read(io, write(io, V2, added(dataFile("a")))).head
    assert(entry.sequenceNumber.isEmpty && entry.snapshotId.contains(7L))
  }

  test(
    "live files without a first row id get consecutive ids, and other entries keep their value",
    ManifestRules.inheritsRowIds,
    ManifestRules.keptRowIds
  ) {
    val io = new MemoryFileIO
    val carried = dataFile("c").copy(firstRowId = Some(3L))
    val manifest = write(
      io,
      V3,
      added(dataFile("a", rows = 10L)),
      existing(carried, 5L, 4L),
      deleted(dataFile("d"), 6L, 2L),
      existing(dataFile("b", rows = 5L), 5L, 4L),
      added(dataFile("e", rows = 1L))
    )
    val ids = read(io, committed(manifest, 12L, firstRowId = Some(1000L))).map(_.file.firstRowId)
    assert(ids == Vector(Some(1000L), Some(3L), None, Some(1010L), Some(1015L)))
    assert(read(io, committed(manifest, 12L)).forall(_.file.firstRowId.isEmpty))
    assert(read(io, manifest)(1).file.firstRowId.contains(3L))
  }

  test(
    "counts, minimum sequence number and partition summaries describe the written entries",
    ManifestRules.counts,
    ManifestRules.summaries
  ) {
    val io = new MemoryFileIO
    val manifest = write(
      io,
      V2,
      added(dataFile("a", Some(5L), 10L)),
      existing(dataFile("b", None, 20L), 5L, 4L),
      existing(dataFile("e", Some(-3L), 2L), 5L, 6L),
      deleted(dataFile("c", Some(70L), 40L), 6L, 2L)
    )
    assert(manifest.addedFilesCount.contains(1) && manifest.addedRowsCount.contains(10L))
    assert(manifest.existingFilesCount.contains(2) && manifest.existingRowsCount.contains(22L))
    assert(manifest.deletedFilesCount.contains(1) && manifest.deletedRowsCount.contains(40L))
    assert(manifest.minSequenceNumber == 4L && manifest.sequenceNumber == Manifests.Unassigned)
    assert(manifest.addedSnapshotId == 7L && manifest.length == io.read("m.avro").length)
    val summary = manifest.partitions.toVector.flatten.head
    assert(summary.containsNull && summary.containsNan.contains(false))
    assert(summary.lowerBound.contains(SingleValue.encode(LongLiteral(-3L))))
    assert(summary.upperBound.contains(SingleValue.encode(LongLiteral(70L))))
  }

  test("partition summaries exclude NaN from the bounds, and order -0.0 before 0.0", ManifestRules.summaries) {
    val floats = new FieldSummaries(StructType(Vector(NestedField.optional(1000, "d", DoubleType))))
    Seq(0.0, Double.NaN, -0.0).foreach(v => floats.add(PartitionTuple(Vector(Some(DoubleLiteral(v))))))
    val summary = floats.result.head
    assert(summary.containsNan.contains(true) && !summary.containsNull)
    assert(summary.lowerBound.contains(SingleValue.encode(DoubleLiteral(-0.0))))
    assert(summary.upperBound.contains(SingleValue.encode(DoubleLiteral(0.0))))
  }

  test(
    "the fields that only delete files have are written and read",
    ManifestRules.vectorFields,
    ManifestRules.equalityIds
  ) {
    val io = new MemoryFileIO
    val vector = dataFile("dv").copy(
      content = Content.PositionDeletes,
      format = FileFormat.Puffin,
      sortOrderId = None,
      splitOffsets = Vector.empty,
      referencedDataFile = Some("file:/wh/db/t/data/a.parquet"),
      contentOffset = Some(4L),
      contentSizeInBytes = Some(44L),
      keyMetadata = Some(bytes(1, 2))
    )
    val equality =
      dataFile("eq").copy(content = Content.EqualityDeletes, equalityIds = Vector(1, 2), sortOrderId = None)
    val manifest = Manifests.write(
      io,
      "d.avro",
      ManifestHeader(V3, ManifestContent.Deletes, schema, byId, 7L),
      Iterator(added(vector), added(equality))
    )
    val readBack = read(io, committed(manifest, 1L, firstRowId = None))
    assert(readBack.map(e => comparable(e.file)) == Vector(vector, equality))
    assert(stream(io, "d.avro").getMetaString("content") == "deletes")
  }

  test(
    "a position delete file is written without sort order id, and a delete file without row id",
    ManifestRules.positionDeletesOrder
  ) {
    val io = new MemoryFileIO
    val file =
      dataFile("p").copy(content = Content.PositionDeletes, sortOrderId = Some(1), firstRowId = Some(5L))
    val manifest =
      Manifests.write(
        io,
        "d.avro",
        ManifestHeader(V3, ManifestContent.Deletes, schema, byId, 7L),
        Iterator(added(file))
      )
    val readBack = read(io, committed(manifest, 1L)).head.file
    assert(readBack.sortOrderId.isEmpty && readBack.firstRowId.isEmpty)
  }

  test("rewriting entries copies their encoded metrics unchanged", ManifestRules.metricsMaps) {
    val io = new MemoryFileIO
    val first = committed(write(io, V2, added(dataFile("a")), added(dataFile("b"))), 3L)
    val carried = read(io, first).map(_.copy(status = Existing))
    val second = Manifests.write(io, "n.avro", ManifestHeader(V2, Data, schema, byId, 8L), carried.iterator)
    val readBack = read(io, committed(second, 4L))
    assert(readBack.map(e => comparable(e.file)) == carried.map(e => comparable(e.file)))
    assert(readBack.forall(e => e.sequenceNumber.contains(3L) && e.snapshotId.contains(7L)))
  }

  test("entries of files in the same partition share one PartitionTuple object") {
    val io = new MemoryFileIO
    val names = Seq("a" -> 1L, "b" -> 2L, "c" -> 1L, "d" -> 1L)
    val entries = names.map { case (name, id) => added(dataFile(name, Some(id))) }
    val tuples = read(io, committed(write(io, V2, entries: _*), 1L)).map(_.file.partition)
    assert((tuples(0) eq tuples(2)) && (tuples(2) eq tuples(3)) && tuples(0) != tuples(1))
  }

  test("a manifest cannot contain both data files and delete files", ManifestRules.oneContent) {
    val io = new MemoryFileIO
    val file = dataFile("p").copy(content = Content.PositionDeletes)
    assertThrows[InvalidArgument](write(io, V2, added(file)))
    val deletes = ManifestContent.Deletes
    assertThrows[InvalidArgument] {
      Manifests.write(io, "d.avro", ManifestHeader(V2, deletes, schema, byId, 7L), Iterator(added(dataFile("a"))))
    }
    assertThrows[InvalidArgument](Manifests.write(
      io,
      "d.avro",
      ManifestHeader(V1, deletes, schema, byId, 7L),
      Iterator(added(file))
    ))
    assert(io.paths.isEmpty)
  }

  test(
    "in version 2 and later, an existing or deleted entry must have its sequence number",
    ManifestRules.explicitNumbers
  ) {
    val io = new MemoryFileIO
    val withoutNumber = existing(dataFile("a"), 5L, 1L).copy(sequenceNumber = None)
    assertThrows[InvalidArgument](write(io, V2, withoutNumber))
    assert(write(io, V1, withoutNumber).existingFilesCount.contains(1))
  }

  test("entries in several Avro blocks are read in the order in which they were written") {
    val io = new MemoryFileIO
    val files = (0 until 2000).map(i => dataFile(s"f$i", Some(i % 7L)))
    val readBack = read(io, committed(write(io, V2, files.map(added): _*), 1L))
    assert(readBack.map(_.file.path) == files.map(_.path))
    assert(readBack.last.file.metrics.upperBound(2).contains(text("zz")))
  }
}
