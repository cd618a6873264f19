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
import iceberglite.spec.file.{FieldSummary, ManifestContent, ManifestFile}
import iceberglite.storage.FileIO
import iceberglite.table.MemoryFileIO
import iceberglite.tree.manifestlist.ManifestSamples._

class ManifestListsSuite extends AnyFunSuite {
  private def manifest(name: String): ManifestFile = ManifestFile(
    path = s"file:/wh/db/t/metadata/$name.avro",
    length = 5000L,
    partitionSpecId = 2,
    content = ManifestContent.Data,
    sequenceNumber = 3L,
    minSequenceNumber = 2L,
    addedSnapshotId = 77L,
    addedFilesCount = Some(1),
    existingFilesCount = Some(2),
    deletedFilesCount = Some(3),
    addedRowsCount = Some(10L),
    existingRowsCount = Some(20L),
    deletedRowsCount = Some(30L),
    partitions = Some(Vector(
      FieldSummary(containsNull = true, Some(false), Some(bytes(1)), Some(bytes(2, 3))),
      FieldSummary(containsNull = false, None, None, None)
    )),
    keyMetadata = Some(bytes(9))
  )
  private val fresh = manifest("new").copy(
    sequenceNumber = Manifests.Unassigned,
    minSequenceNumber = Manifests.Unassigned,
    addedSnapshotId = 99L
  )
  private val deletes = manifest("deletes").copy(content = ManifestContent.Deletes)

  private def write(version: FormatVersion, firstRowId: Option[Long], manifests: ManifestFile*) = {
    val io = new MemoryFileIO
    val (length, assigned) =
      ManifestLists.write(io, "snap.avro", ManifestListHeader(version, 99L, Some(98L), 12L, firstRowId), manifests)
    assert(length == io.read("snap.avro").length)
    (io, assigned)
  }

  private def stream(io: FileIO): DataFileStream[GenericRecord] =
    new DataFileStream(new ByteArrayInputStream(io.read("snap.avro")), new GenericDatumReader[GenericRecord])

  test(
    "the manifests in a version 2 list are read as written, and new manifests get the snapshot's sequence number",
    ManifestRules.listFields,
    ManifestRules.newManifest
  ) {
    val (io, assigned) = write(V2, None, manifest("old"), fresh, deletes)
    val numbered = fresh.copy(sequenceNumber = 12L, minSequenceNumber = 12L)
    assert(assigned == Vector(manifest("old"), numbered, deletes))
    assert(ManifestLists.read(io, "snap.avro") == assigned)
  }

  test("a new manifest with existing files keeps their minimum sequence number", ManifestRules.newManifest) {
    val (_, assigned) = write(V2, None, fresh.copy(minSequenceNumber = 4L))
    assert(assigned.head.sequenceNumber == 12L && assigned.head.minSequenceNumber == 4L)
  }

  test(
    "a version 1 list has no sequence numbers and no content, which are read as 0 and data",
    ManifestRules.version1Lists
  ) {
    val uncounted = manifest("old").copy(addedFilesCount = None, addedRowsCount = None, partitions = None)
    val (io, assigned) = write(V1, None, uncounted, fresh)
    assert(assigned.forall(m => m.sequenceNumber == 0L && m.minSequenceNumber == 0L))
    assert(ManifestLists.read(io, "snap.avro") == assigned)
    val schema = stream(io).getSchema
    assert(Seq("content", "sequence_number", "min_sequence_number", "first_row_id").forall(schema.getField(_) == null))
    assertThrows[InvalidArgument](write(V1, None, deletes))
  }

  test(
    "version 3 assigns a first row id to each data manifest without one, and reserves ids for existing rows",
    ManifestRules.firstRowIds
  ) {
    val withRowId = manifest("known").copy(firstRowId = Some(5L))
    val (io, assigned) = write(V3, Some(1000L), withRowId, fresh, deletes, manifest("upgraded"))
    assert(assigned.map(_.firstRowId) == Vector(Some(5L), Some(1000L), None, Some(1030L)))
    assert(ManifestLists.read(io, "snap.avro") == assigned)
    assertThrows[InvalidArgument](write(V3, None, fresh))
  }

  test(
    "the key-value metadata of versions 1 to 3 has the keys of each version",
    ManifestRules.listKeyValues
  ) {
    def metadata(version: FormatVersion, firstRowId: Option[Long]): Map[String, String] = {
      val in = stream(write(version, firstRowId)._1)
      in.getMetaKeys.asScala.filterNot(_.startsWith("avro.")).map(k => k -> in.getMetaString(k)).toMap
    }
    val v1 = Map("snapshot-id" -> "99", "parent-snapshot-id" -> "98", "format-version" -> "1")
    assert(metadata(V1, None) == v1)
    assert(metadata(V2, None) == v1 ++ Map("sequence-number" -> "12", "format-version" -> "2"))
    val v3 = Map("sequence-number" -> "12", "first-row-id" -> "40", "format-version" -> "3")
    assert(metadata(V3, Some(40L)) == v1 ++ v3)
  }

  test("Avro's generic reader finds the fields by their names") {
    val in = stream(write(V3, Some(1000L), fresh)._1)
    val record = in.next()
    assert(in.getSchema.getFullName == "manifest_file")
    assert(record.get("manifest_path").toString == fresh.path && record.get("sequence_number") == 12L)
    assert(record.get("added_files_count") == 1 && record.get("first_row_id") == 1000L)
    val summary = record.get("partitions").asInstanceOf[java.util.List[GenericRecord]].get(0)
    assert(summary.getSchema.getFullName == "r508" && summary.get("contains_null") == true)
    assert(in.getSchema.toString.contains("\"element-id\":508"))
  }

  test("a manifest that another snapshot added must have a sequence number", ManifestRules.carriedManifest) {
    val error = intercept[InvalidArgument](write(V2, None, fresh.copy(addedSnapshotId = 1L)))
    assert(error.getMessage.contains(fresh.path))
  }

  test(
    "an absent file count in a manifest list is unknown, and not zero",
    ManifestRules.nullCounts,
    ManifestRules.version1Lists
  ) {
    val uncounted = manifest("old").copy(addedFilesCount = None, existingFilesCount = None, deletedFilesCount = None)
    val (io, _) = write(V1, None, uncounted)
    val read = ManifestLists.read(io, "snap.avro").head
    assert(read.addedFilesCount.isEmpty && read.existingFilesCount.isEmpty && read.deletedFilesCount.isEmpty)
    assert(!read.copy(addedFilesCount = Some(0), existingFilesCount = Some(0)).hasLiveFiles)
    assert(read.copy(addedFilesCount = Some(0)).hasLiveFiles)
  }

  test("writing a manifest without counts to a version 2 manifest list is rejected") {
    val error = intercept[InvalidArgument](write(V2, None, manifest("old").copy(deletedRowsCount = None)))
    assert(error.getMessage.contains("deleted_rows_count"))
  }
}
