package iceberglite.tree.root

import java.nio.ByteBuffer

import scala.collection.JavaConverters._
import scala.util.Random

import org.apache.parquet.hadoop.ParquetFileReader
import org.apache.parquet.schema.{GroupType, Type => ParquetType}
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.data.Record
import iceberglite.data.parquet.ParquetMetadataFiles
import iceberglite.parquet.ParquetInput
import iceberglite.spec.IcebergError.{UnreadableFile, ValidationFailed}
import iceberglite.spec.file.{EntryStatus, FileFormat}
import iceberglite.spec.partition.{Identity, PartitionField, PartitionSpec}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.Literal
import iceberglite.spec.types.Literal._
import iceberglite.spec.types.NestedField.optional
import iceberglite.spec.types.Type._
import iceberglite.tree.CountingMemoryIO
import iceberglite.tree.manifestlist.ManifestSamples
import iceberglite.tree.root.EntryContent._
import iceberglite.tree.root.RootSamples.columnsOf

/** Tests [[RootManifests]], which reads and writes the manifests of version 4: the root and the leaves of a tree. */
class RootManifestsSuite extends AnyFunSuite {
  private val schema = ManifestSamples.schema
  private val columns = columnsOf(schema, PartitionSpec(0, Vector(PartitionField(1, 1000, "id", Identity))))
  private val path = "mem:/t/metadata/root.parquet"

  private val existing = VersionInfo(EntryStatus.Existing, Some(3L), Some(2L), Some(2L))
  private val stats = ContentStats(Map(
    1 -> FieldStats(Some(LongLiteral(1)), Some(LongLiteral(9)), Some(true), Some(10L), Some(0L)),
    2 -> FieldStats(Some(StringLiteral("a")), None, None, Some(10L), Some(2L), None, Some(3), Some(9)),
    3 -> FieldStats(nanCount = Some(4L))
  ))
  private val counts = ManifestStats(1, 2, 3, 10L, 20L, 30L, 1L)

  private def entry(content: EntryContent, location: String): ContentEntry =
    ContentEntry(content, location, FileFormat.Parquet, existing, 0, 10L, Some(100L))

  private val data = entry(Data, "mem:/d.parquet").copy(
    stats = stats,
    sortOrderId = Some(1),
    keyMetadata = Some(ManifestSamples.bytes(1)),
    splitOffsets = Vector(4L, 50L),
    firstRowId = Some(1000L)
  )
  private val added = data.copy(version = VersionInfo(EntryStatus.Added, None, None, None), firstRowId = None)
  private val vector = entry(PositionDeletes, "mem:/v.puffin").copy(
    format = FileFormat.Puffin,
    vector = Some(VectorContent.InPuffin(4L, 40L)),
    referencedFile = Some("mem:/d.parquet")
  )
  private val equality = entry(EqualityDeletes, "mem:/e.parquet").copy(equalityIds = Vector(1, 2), stats = stats)
  private val leaf = entry(DataManifest, "mem:/leaf.parquet").copy(manifest = Some(counts), firstRowId = Some(5L))
  private val deletes =
    entry(DeleteManifest, "mem:/dl.parquet").copy(manifest = Some(counts), referencedFile = Some("mem:/leaf.parquet"))
  private val inline = entry(ManifestVector, "").copy(
    format = FileFormat.Puffin,
    fileSizeInBytes = None,
    vector = Some(VectorContent.Inline(ByteBuffer.wrap(Array[Byte](1, 2, 3)))),
    referencedFile = Some("mem:/leaf.parquet")
  )
  private val everyContent = Vector(data, added, vector, equality, leaf, deletes, inline)

  private def io(bytes: Array[Byte]): CountingMemoryIO = {
    val storage = new CountingMemoryIO
    storage.write(path, bytes)
    storage
  }

  private def write(entries: Vector[ContentEntry], kind: ManifestKind = ManifestKind.Root): Array[Byte] =
    RootManifests.write(path, kind, columns, entries)

  private def read(bytes: Array[Byte], as: StatsColumns = columns): RootManifests.Contents =
    RootManifests.read(io(bytes), path, as)

  test("entries of every content are read as they were written") {
    val contents = read(write(everyContent))
    assert(contents.kind == ManifestKind.Root && contents.entries == everyContent)
    assert(read(write(Vector(data, added), ManifestKind.DataLeaf)).entries == Vector(data, added))
    assert(read(write(Vector(vector, equality), ManifestKind.DeleteLeaf)).kind == ManifestKind.DeleteLeaf)
    assert(read(write(Vector.empty)).entries.isEmpty)
  }

  test("bounds of every type are read as they were written") {
    val wide = columnsOf(ManifestSamples.wideSchema)
    val bounds = ManifestSamples.everyType.zipWithIndex.map { case ((_, value), i) =>
      (i + 1) -> FieldStats(Some(value), Some(value))
    }.toMap
    val file = data.copy(stats = ContentStats(bounds))
    val bytes = RootManifests.write(path, ManifestKind.Root, wide, Vector(file))
    assert(read(bytes, wide).entries == Vector(file))
  }

  test("only the statistics of the given columns are read") {
    val expected = data.copy(stats = ContentStats(Map(3 -> stats.byId(3))))
    assert(read(write(Vector(data)), columns.only(Set(3))).entries == Vector(expected))
  }

  test("bounds that were written before a column was promoted are read as values of the new type") {
    def table(t: iceberglite.spec.types.Type) = columnsOf(Schema(0, Vector(optional(1, "n", t))))
    def file(bound: Literal) = data.copy(stats = ContentStats(Map(1 -> FieldStats(Some(bound), Some(bound)))))
    val bytes = RootManifests.write(path, ManifestKind.Root, table(IntType), Vector(file(IntLiteral(7))))
    assert(read(bytes, table(LongType)).entries == Vector(file(LongLiteral(7))))
  }

  test("columns whose names differ only in case have distinct names, also if another column has such a name") {
    val names = Vector("a", "A", "a_1", "b")
    val all = columnsOf(Schema(0, names.zipWithIndex.map { case (name, i) => optional(i + 1, name, LongType) }))
    assert(all.all.map(_.name.toLowerCase).distinct.size == 4 && all.byId(4).name == "b")
    val bounds = (1 to 4).map(id => id -> FieldStats(Some(LongLiteral(id.toLong)), Some(LongLiteral(id.toLong)))).toMap
    val file = data.copy(stats = ContentStats(bounds))
    assert(read(RootManifests.write(path, ManifestKind.Root, all, Vector(file)), all).entries == Vector(file))
  }

  test("every node of the file has its field id, and columns without values are omitted") {
    val storage = io(write(Vector(data, leaf)))
    val reader = ParquetFileReader.open(ParquetInput.of(storage, path))
    try {
      val file = reader.getFileMetaData
      def nodes(group: GroupType): Seq[ParquetType] = group.getFields.asScala.flatMap {
        case g: GroupType => g +: nodes(g)
        case leaf => Seq(leaf)
      }
      val ids = nodes(file.getSchema).filter(_.getName != "list").map(n => n.getName -> n.getId.intValue).toMap
      val statsOfId = ids.filterKeys(Set("id", "name", "price")).map(identity)
      assert(statsOfId == Map("id" -> 10200, "name" -> 10400, "price" -> 10600))
      assert(ids("version_info") == 5 && ids("content_stats") == 149 && ids("manifest_stats") == 521)
      assert(!ids.contains("deletion_vector") && !ids.contains("equality_ids"))
      assert(file.getKeyValueMetaData.asScala.toMap.filterKeys(Set("format-version", "content")).map(identity) ==
        Map("format-version" -> "4", "content" -> "root"))
    } finally reader.close()
  }

  private def reasonOf(bytes: Array[Byte]): String = {
    val error = intercept[UnreadableFile](read(bytes))
    assert(error.file == path && error.role == "manifest")
    error.reason
  }

  private def foreign(keyValues: Map[String, String], entries: ContentEntry*): Array[Byte] = {
    val struct = new EntryStruct(columns)
    val (stored, rows) = AbsentColumns.drop(struct.structType, entries.map(struct.record).toVector)
    ParquetMetadataFiles.write(path, Schema(0, stored.fields), keyValues, rows.iterator)
  }

  private def keyValues(content: String, version: String = "4") =
    Map("format-version" -> version, "content" -> content)

  test("files that are not manifests of version 4 are rejected") {
    assert(reasonOf(Array[Byte](1, 2, 3)).contains("too few"))
    assert(reasonOf(Array.fill[Byte](100)(7)).contains("PAR1"))
    assert(reasonOf(foreign(Map.empty, data)).contains("no key format-version"))
    assert(reasonOf(foreign(keyValues("root", "5"), data)).contains("format version 5"))
    assert(reasonOf(foreign(keyValues("tree"), data)).contains("unknown content tree"))
    val other = Schema(0, Vector(optional(134, "x", IntType)))
    val rows = Iterator(Record.of(0))
    assert(reasonOf(ParquetMetadataFiles.write(path, other, keyValues("root"), rows)).contains("Column location"))
    assert(read(foreign(keyValues("deletes"), vector)).kind == ManifestKind.DeleteLeaf)
  }

  /** Entries that violate a rule, with a part of the message. */
  private val invalid: Seq[(ContentEntry, String)] = Seq(
    data.copy(recordCount = -1L) -> "negative record count -1",
    data.copy(fileSizeInBytes = None) -> "no file size",
    data.copy(location = "") -> "no location",
    data.copy(fileSizeInBytes = Some(-5L)) -> "negative file size",
    data.copy(equalityIds = Vector(1)) -> "equality ids",
    data.copy(splitOffsets = Vector(9L, 4L)) -> "not sorted",
    data.copy(firstRowId = Some(-1L)) -> "negative first row id",
    data.copy(referencedFile = Some("x")) -> "referenced file",
    data.copy(manifest = Some(counts)) -> "manifest_stats",
    data.copy(vector = vector.vector) -> "deletion_vector",
    data.copy(version = existing.copy(sequenceNumber = None)) -> "must have a snapshot id and sequence numbers",
    data.copy(version = existing.copy(sequenceNumber = Some(-1L))) -> "negative sequence number",
    vector.copy(vector = None) -> "no deletion_vector",
    vector.copy(referencedFile = None) -> "no referenced file",
    vector.copy(vector = inline.vector) -> "only deletion vectors of manifests may be inline",
    vector.copy(vector = Some(VectorContent.InPuffin(90L, 40L))) -> "not within its file",
    vector.copy(vector = Some(VectorContent.InPuffin(Long.MaxValue, 40L))) -> "not within its file",
    equality.copy(equalityIds = Vector.empty) -> "no equality ids",
    equality.copy(sortOrderId = Some(1)) -> "sort order",
    equality.copy(firstRowId = Some(1L)) -> "first row id",
    leaf.copy(manifest = None) -> "no manifest_stats",
    leaf.copy(manifest = Some(counts.copy(existingFiles = -2))) -> "negative count in manifest_stats",
    deletes.copy(manifest = Some(counts.copy(deletedRows = -1L))) -> "negative count in manifest_stats",
    leaf.copy(version = existing.copy(fileSequenceNumber = Some(9L))) -> "must be equal for a manifest",
    inline.copy(location = "mem:/x") -> "although its deletion vector is inline"
  )

  test("entries that violate a rule are neither read nor written") {
    invalid.foreach { case (e, message) =>
      assert(reasonOf(foreign(keyValues("root"), e)).contains(message))
      assert(intercept[ValidationFailed](write(Vector(e))).getMessage.contains(message))
    }
    for ((e, kind) <- Seq(leaf -> "data", inline -> "data", vector -> "data", data -> "delete", deletes -> "delete"))
      assert(reasonOf(foreign(keyValues(kind), e)).contains(s"is not allowed in a $kind manifest"))
  }

  test("a damaged manifest is rejected or read, but causes no other failure") {
    val bytes = write(everyContent)
    val random = new Random(4)
    (1 to 400).foreach { _ =>
      val damaged = bytes.clone()
      (0 to random.nextInt(3)).foreach(_ => damaged(random.nextInt(bytes.length)) = random.nextInt().toByte)
      val cut = if (random.nextInt(4) == 0) damaged.take(random.nextInt(bytes.length)) else damaged
      try read(cut)
      catch { case e: UnreadableFile => assert(e.file == path) }
    }
  }
}
