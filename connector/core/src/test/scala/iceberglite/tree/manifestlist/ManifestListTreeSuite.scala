package iceberglite.tree.manifestlist

import java.util.UUID
import java.util.concurrent.atomic.AtomicInteger

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.TestMetadata._
import iceberglite.conformance.ManifestRules
import iceberglite.spec.FormatVersion
import iceberglite.spec.IcebergError.{StorageFailed, UnreadableFile, ValidationFailed}
import iceberglite.spec.file.{
  Content,
  ContentFile,
  EntryStatus,
  FileFormat,
  ManifestContent,
  ManifestEntry,
  ManifestFile,
  PartSummary
}
import iceberglite.spec.file.EntryStatus.{Added, Deleted, Existing}
import iceberglite.spec.metadata.Snapshot
import iceberglite.spec.partition.{Identity, PartitionField, PartitionSpec, PartitionTuple}
import iceberglite.spec.property.TableProperty
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{Literal, NestedField}
import iceberglite.spec.types.Literal.{IntLiteral, LongLiteral}
import iceberglite.spec.types.Type.{IntType, LongType, StringType}
import iceberglite.tree.{FileChanges, FileSelector, ManifestCache, OlderFile, TestTable}
import iceberglite.tree.TestTable._

/** Tests [[ManifestListTree]], the metadata trees of versions 1 to 3: a manifest list and its manifests. */
class ManifestListTreeSuite extends AnyFunSuite {
  private val schema = Schema(
    0,
    Vector(NestedField.required(1, "id", IntType), NestedField.optional(2, "category", StringType))
  )
  private val byId = PartitionSpec(0, Vector(PartitionField(1, 1000, "id", Identity)))

  private def part(id: Int): PartitionTuple = PartitionTuple(Vector(Some(IntLiteral(id))))

  private def namesAndStatus(entries: Seq[ManifestEntry]): Seq[(String, EntryStatus)] =
    entries.map(e => nameOf(e.file) -> e.status)

  FormatVersion.adopted.foreach { version =>
    test(
      s"an append to a version $version table keeps the parent's manifests unchanged",
      ManifestRules.carriedManifest
    ) {
      val t = new TestTable(schema, version = version)
      val first = t.append(file("a"), file("b"))
      val second = t.append(file("c"))
      assert(listOf(second).manifests.map(_.path).last == listOf(first).manifests.head.path)
      assert(namesAndStatus(t.entries) == Seq("c" -> Added, "a" -> Added, "b" -> Added))
      assert(counts(second) == ((1, 1, 0)))
      assert(t.entries.map(_.snapshotId) == Seq(Some(2L), Some(1L), Some(1L)))
    }

    test(
      s"removing files rewrites a version $version manifest, and the remaining files keep their sequence numbers",
      ManifestRules.explicitNumbers,
      ManifestRules.deletedBy
    ) {
      val t = new TestTable(schema, version = version)
      t.append(file("a"), file("b"))
      t.append(file("c"))
      val before = t.live.map(e => e.file.path -> ((e.sequenceNumber, e.fileSequenceNumber))).toMap
      val written = t.commit(Vector(file("d")), removing("a"))
      assert(namesAndStatus(t.entries) == Seq("d" -> Added, "a" -> Deleted, "b" -> Existing, "c" -> Added))
      val byName = t.entries.map(e => nameOf(e.file) -> e).toMap
      assert(byName("a").snapshotId.contains(3L) && byName("b").snapshotId.contains(1L))
      Seq("a", "b", "c").foreach { n =>
        val e = byName(n)
        assert((e.sequenceNumber, e.fileSequenceNumber) == before(e.file.path))
      }
      assert(written.removed.map(e => nameOf(e.file) -> e.snapshotId) == Seq("a" -> Some(1L)))
      assert(counts(written) == ((2, 1, 1)))
    }
  }

  test("entries with status deleted are dropped when a later commit rewrites their manifest or finds no live entries") {
    val t = new TestTable(schema)
    t.append(file("a"), file("b"), file("c"))
    t.commit(Vector.empty, removing("a"))
    assert(namesAndStatus(t.entries) == Seq("a" -> Deleted, "b" -> Existing, "c" -> Existing))
    t.commit(Vector.empty, removing("b"))
    assert(namesAndStatus(t.entries) == Seq("b" -> Deleted, "c" -> Existing))
    t.commit(Vector.empty, removing("c"))
    assert(namesAndStatus(t.entries) == Seq("c" -> Deleted))
    val last = t.append(file("d"))
    assert(namesAndStatus(t.entries) == Seq("d" -> Added))
    assert(counts(last) == ((1, 0, 0)))
  }

  test(
    "new files are written to one manifest for each partition spec and content",
    ManifestRules.oneSpec,
    ManifestRules.oneContent
  ) {
    val byCategory = PartitionSpec(1, Vector(PartitionField(2, 1001, "category", Identity)))
    val t = new TestTable(schema, Vector(byId, byCategory))
    val partition = PartitionTuple(Vector(Some(Literal.StringLiteral("x"))))
    t.append(
      file("a", part(1)),
      file("b", partition, specId = 1),
      file("c", part(2)),
      equalityDeletes("e", part(1))
    )
    assert(t.manifests.map(m => (m.partitionSpecId, m.content, m.addedFilesCount)) == Vector(
      (0, ManifestContent.Data, Some(2)),
      (1, ManifestContent.Data, Some(1)),
      (0, ManifestContent.Deletes, Some(1))
    ))
    assert(t.entries.find(e => nameOf(e.file) == "b").map(_.file.partition).contains(partition))
  }

  test("many new files are distributed over manifests of about the target size") {
    val t = new TestTable(schema, properties = Map(TableProperty.ManifestTargetSize.key -> "2000"))
    t.append((1 to 200).map(i => file(s"f$i")): _*)
    assert(t.manifests.size > 3)
    assert(t.live.map(e => nameOf(e.file)) == (1 to 200).map(i => s"f$i"))
  }

  test(
    "a second commit attempt reuses the manifests of new files and writes only a new manifest list",
    ManifestRules.addedAreNull
  ) {
    val t = new TestTable(schema)
    val changes = FileChanges(Vector(file("mine")))
    val firstAttempt = t.write(t.header().copy(snapshotId = 99L, commitId = new UUID(9, 9)), changes)
    t.append(file("theirs"))
    val header = t.header(attempt = 1).copy(snapshotId = 99L, commitId = new UUID(9, 9))
    val secondAttempt = t.write(header, changes, Some(firstAttempt))
    assert(secondAttempt.written == Vector(secondAttempt.pointer))
    assert(listOf(secondAttempt).manifests.head.path == listOf(firstAttempt).manifests.head.path)
    assert(firstAttempt.written.filterNot(secondAttempt.references) == Vector(firstAttempt.pointer))
    val entry = t.reader.entries(listOf(secondAttempt).manifests.head).next()
    assert(entry.sequenceNumber.contains(2L) && entry.snapshotId.contains(99L))
  }

  test("a failed write leaves no files") {
    val t = new TestTable(schema)
    t.append(file("a"), file("b"))
    val before = t.io.paths
    t.io.failingWrites = Some("snap-")
    intercept[StorageFailed](t.commit(Vector(file("c")), removing("a")))
    assert(t.io.paths == before)
    t.io.failingWrites = None
    val failingSelector = new FileSelector {
      override def mightMatch(part: PartSummary): Boolean = true
      override def removes(entry: ManifestEntry): Boolean =
        if (nameOf(entry.file) == "b") throw ValidationFailed("Not b") else true
    }
    intercept[ValidationFailed](t.commit(Vector(file("c")), failingSelector))
    assert(t.io.paths == before)
  }

  test("a manifest without files that the selector might remove is kept without reading it") {
    val t = new TestTable(schema, Vector(byId))
    t.append(file("a", part(1)))
    val reads = t.io.reads.get
    val selectorCalls = new AtomicInteger
    t.commit(
      Vector(file("b", part(2))),
      new FileSelector {
        override def mightMatch(part: PartSummary): Boolean = false
        override def removes(entry: ManifestEntry): Boolean = {
          selectorCalls.incrementAndGet()
          true
        }
      }
    )
    assert(selectorCalls.get == 0)
    assert(t.io.reads.get == reads + 1, "only the manifest list must be read")
  }

  test(
    "version 3 assigns row ids to new files and keeps them when a manifest is rewritten",
    ManifestRules.keptRowIds
  ) {
    val t = new TestTable(schema, version = FormatVersion.V3)
    val first = t.append(file("a", records = 3), file("b", records = 4))
    assert(first.addedRows.contains(7L))
    assert(t.entries.map(_.file.firstRowId) == Seq(Some(0L), Some(3L)))
    val second = t.commit(Vector(file("c", records = 5)), removing("a"))
    val ids = t.live.map(e => nameOf(e.file) -> e.file.firstRowId).toMap
    assert(ids("b").contains(3L))
    // Row ids are also reserved for the existing rows in the rewritten manifest, so the snapshot's `added-rows` (9) is
    // greater than the number of its new rows (5). The specification allows this: `added-rows` is an upper bound.
    assert(second.addedRows.contains(9L))
    val manifestRowIds = t.manifests.flatMap(_.firstRowId)
    assert(manifestRowIds.forall(_ >= 7L) && manifestRowIds.distinct == manifestRowIds)
    assert(ids("c").exists(_ >= 7L))
  }

  test(
    "the first commit after an upgrade to version 3 assigns row ids to every file",
    ManifestRules.firstRowIds,
    ManifestRules.inheritsRowIds
  ) {
    val t = new TestTable(schema)
    t.append(file("a", records = 3))
    t.append(file("b", records = 4))
    assert(t.live.forall(_.file.firstRowId.isEmpty))
    t.metadata = t.metadata.edited(formatVersion = FormatVersion.V3)
    val written = t.append(file("c", records = 5))
    assert(written.addedRows.contains(12L))
    val ranges = t.live.map(e => e.file.firstRowId.get -> e.file.recordCount).sorted
    assert(ranges.scanLeft(0L)((end, r) => { assert(r._1 == end); end + r._2 }).last == 12L)
  }

  test("removing a data file removes the position deletes that reference only this file") {
    val t = new TestTable(schema)
    t.append(file("a"), file("b"))
    t.append(positionDeletes("da", Some("a")), positionDeletes("db", Some("b")), positionDeletes("dall"))
    t.commit(
      Vector.empty,
      new FileSelector {
        override def mightMatch(part: PartSummary): Boolean = part.content == ManifestContent.Data
        override def removes(e: ManifestEntry): Boolean = {
          assert(e.file.content == Content.Data)
          nameOf(e.file) == "a"
        }
      }
    )
    assert(t.live.map(e => nameOf(e.file)).toSet == Set("b", "db", "dall"))
  }

  test(
    "a version 1 snapshot that lists its manifests in table metadata can be read and appended to",
    ManifestRules.embedded
  ) {
    val t = new TestTable(schema, version = FormatVersion.V1)
    t.append(file("a", records = 3), file("b", records = 4))
    val paths = t.manifests.map(_.path)
    t.setCurrent(Snapshot(2, Some(1), 0, 2000, None, paths, Map.empty, None))
    assert(t.live.map(e => nameOf(e.file)) == Seq("a", "b"))
    val manifest = t.manifests.head
    assert(manifest.addedFilesCount.contains(2) && manifest.addedRowsCount.contains(7L))
    t.metadata = t.metadata.edited(formatVersion = FormatVersion.V2)
    t.append(file("c"))
    assert(t.live.map(e => nameOf(e.file) -> e.sequenceNumber.get) == Seq("c" -> 1L, "a" -> 0L, "b" -> 0L))
    assert(t.manifests.forall(_.deletedRowsCount.isDefined))
  }

  test("the error for a missing or invalid manifest that table metadata lists contains its path") {
    val t = new TestTable(schema, version = FormatVersion.V1)
    t.io.write("mem:/t/metadata/m.avro", "not Avro".getBytes)
    t.setCurrent(Snapshot(1, None, 0, 1000, None, Vector("mem:/t/metadata/m.avro"), Map.empty, None))
    assert(intercept[UnreadableFile](t.manifests).getMessage.contains("mem:/t/metadata/m.avro"))
    t.setCurrent(Snapshot(2, None, 0, 2000, None, Vector("mem:/t/metadata/gone.avro"), Map.empty, None))
    assert(intercept[UnreadableFile](t.manifests).getMessage.contains("mem:/t/metadata/gone.avro"))
  }

  test("an empty manifest list is read only if the snapshot summary counts no data files; otherwise it is an error") {
    val t = new TestTable(schema)
    t.append(file("a"))
    val path = "mem:/t/metadata/cut.avro"
    ManifestLists.write(t.io, path, ManifestListHeader(FormatVersion.V2, 1, None, 1, None), Vector.empty)
    val snapshot = t.metadata.snapshots.last
    def manifests(total: String): Vector[ManifestFile] = t.reader.manifests(
      snapshot.copy(manifestList = Some(path), summary = snapshot.summary + ("total-data-files" -> total))
    )
    val error = intercept[UnreadableFile](manifests("1"))
    assert(error.getMessage.contains(path) && error.getMessage.contains("truncated"))
    assert(manifests("0").isEmpty)
  }

  test(
    "partition values have the type of the current schema, or the written type if their column was dropped",
    ManifestRules.partitionTypes
  ) {
    val t = new TestTable(schema, Vector(byId))
    t.append(file("a", part(1)))
    val long = Schema(1, Vector(NestedField.required(1, "id", LongType), schema.fields(1)))
    t.metadata = t.metadata.edited(schemas = Vector(schema, long), currentSchemaId = 1)
    assert(t.live.head.file.partition == PartitionTuple(Vector(Some(LongLiteral(1)))))
    val withoutId = Schema(2, Vector(schema.fields(1)))
    t.metadata = t.metadata.edited(schemas = Vector(schema, withoutId), currentSchemaId = 2)
    assert(t.live.head.file.partition == part(1))
  }

  private def numbers(t: TestTable, name: String): (Option[Long], Option[Long]) = {
    val entry = t.entries.find(e => nameOf(e.file) == name).get
    (entry.sequenceNumber, entry.fileSequenceNumber)
  }

  test("a file can be added with an older data sequence number, which it keeps", ManifestRules.olderNumber) {
    Seq(ManifestCache.Disabled, new ManifestCache(1L << 20)).foreach { cache =>
      val t = new TestTable(schema, cache = cache)
      t.append(file("a"))
      t.append(equalityDeletes("e"))
      val changes = FileChanges(Vector(file("c")), removing("a"), Vector(OlderFile(file("b"), 1L)))
      val firstAttempt = t.write(t.header(), changes)
      t.adopt(t.write(t.header(attempt = 1), changes, Some(firstAttempt)))
      assert(numbers(t, "b") == ((Some(1L), Some(3L))) && numbers(t, "c") == ((Some(3L), Some(3L))))
      assert(numbers(t, "a") == ((Some(1L), Some(1L))))
      assert(t.manifests.find(_.addedFilesCount.contains(2)).map(_.minSequenceNumber).contains(1L))
      t.commit(Vector.empty, removing("c"))
      assert(numbers(t, "b") == ((Some(1L), Some(3L))) && numbers(t, "c") == ((Some(3L), Some(3L))))
    }
  }

  private def rejection(version: FormatVersion, changes: FileChanges): String = {
    val t = new TestTable(schema, version = version)
    t.append(file("a"))
    val before = t.io.paths
    val error = intercept[ValidationFailed](t.write(t.header(), changes))
    assert(t.io.paths == before)
    error.getMessage
  }

  test(
    "adding a file with a data sequence number that is negative or not older than the commit is rejected",
    ManifestRules.olderNumber
  ) {
    Seq(-1L, 3L).foreach { n =>
      val message = rejection(FormatVersion.V2, FileChanges(Vector.empty, addedOlder = Vector(OlderFile(file("b"), n))))
      assert(message.contains("b.parquet") && message.contains(s"data sequence number $n"))
    }
    val ofV1 = FileChanges(Vector.empty, addedOlder = Vector(OlderFile(file("b"), 1L)))
    assert(rejection(FormatVersion.V1, ofV1).contains("data sequence number 1"))
  }

  test("delete files that the format version does not allow are rejected", ManifestRules.vectorsOnly) {
    val vector = positionDeletes("v", Some("a")).copy(
      format = FileFormat.Puffin,
      contentOffset = Some(4L),
      contentSizeInBytes = Some(40L)
    )
    def message(version: FormatVersion, file: ContentFile): String = rejection(version, FileChanges(Vector(file)))
    assert(message(FormatVersion.V1, equalityDeletes("e")).contains("version 1 does not allow"))
    assert(message(FormatVersion.V1, positionDeletes("p")).contains("version 1 does not allow"))
    assert(message(FormatVersion.V2, vector).contains("format-version to 3"))
    assert(message(FormatVersion.V3, positionDeletes("p")).contains("only deletion vectors"))
    val t = new TestTable(schema, version = FormatVersion.V3)
    t.append(file("a"))
    t.append(vector, equalityDeletes("e"))
    assert(t.live.map(e => nameOf(e.file)).toSet == Set("a", "v", "e"))
  }

  test(
    "delete files without required fields are rejected",
    ManifestRules.vectorFields,
    ManifestRules.equalityIds
  ) {
    val vector = positionDeletes("v", Some("a")).copy(
      format = FileFormat.Puffin,
      contentOffset = Some(4L),
      contentSizeInBytes = Some(40L)
    )
    def message(file: ContentFile): String = rejection(FormatVersion.V3, FileChanges(Vector(file)))
    assert(message(vector.copy(referencedDataFile = None)).contains("without a referenced data file"))
    assert(message(vector.copy(contentOffset = None)).contains("without its offset and size"))
    assert(message(equalityDeletes("e").copy(equalityIds = Vector.empty)).contains("without equality ids"))
    assert(message(file("b", specId = 9)).contains("partition spec 9"))
  }

  test("entries of files in the same partition share one PartitionTuple object") {
    val t = new TestTable(schema, Vector(byId))
    t.append(file("a", part(1)), file("b", part(2)), file("c", part(1)))
    val Seq(a, b, c) = t.live.map(_.file.partition)
    assert((a eq c) && (a ne b))
  }
}
