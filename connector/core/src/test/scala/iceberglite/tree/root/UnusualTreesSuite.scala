package iceberglite.tree.root

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.puffin.DeletionVector
import iceberglite.spec.FormatVersion
import iceberglite.spec.IcebergError.{UnreadableFile, ValidationFailed}
import iceberglite.spec.TestMetadata._
import iceberglite.spec.file.{ContentFile, FileFormat, MetricMaps}
import iceberglite.spec.file.EntryStatus.Existing
import iceberglite.spec.partition._
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{Literal, NestedField, SingleValue}
import iceberglite.spec.types.Literal.{IntLiteral, LongLiteral, StringLiteral}
import iceberglite.spec.types.Type._
import iceberglite.tree.{FileChanges, TestTable}
import iceberglite.tree.manifestlist.ManifestSamples

/** Tests metadata trees of version 4 that are unusual but valid, and trees that other writers may write. */
class UnusualTreesSuite extends AnyFunSuite {
  private def vectors(table: RootTable): Vector[ContentEntry] =
    table.root.filter(e => e.content == EntryContent.ManifestVector && e.isLive)

  private def leaves(table: RootTable): Vector[ContentEntry] = table.root.filter(_.manifest.isDefined)

  private def positionsOf(table: RootTable): Vector[DeletionVector] =
    vectors(table).map(ManifestVectors.read(table.io, "root", _))

  private def dataVector(of: String, version: Int = 1): ContentFile =
    TestTable.positionDeletes(s"dv$version-$of", Some(of))
      .copy(format = FileFormat.Puffin, contentOffset = Some(4L), contentSizeInBytes = Some(40L))

  /** Commits a root that another writer might have written. */
  private def foreignCommit(table: RootTable)(change: (Vector[ContentEntry], Long) => Vector[ContentEntry]): Unit = {
    val written = table.write(FileChanges(Vector.empty))
    val id = table.testTable.header().snapshotId
    val columns = RootSamples.columnsOf(table.testTable.metadata)
    val root = change(table.root.filter(_.isLive).map(e => e.copy(version = e.version.copy(status = Existing))), id)
    table.io.replace(written.pointer, RootManifests.write(written.pointer, ManifestKind.Root, columns, root))
    table.testTable.adopt(written)
  }

  test("the positions of an Avro manifest count its entries with the status deleted") {
    Seq(FormatVersion.V1, FormatVersion.V2, FormatVersion.V3).foreach { version =>
      val table = new RootTable(ManifestSamples.schema, limits = RootLimits(foldShare = 1), version = version)
      table.testTable.append(Seq("a", "b", "c", "d").map(TestTable.file(_)): _*)
      table.testTable.commit(Vector.empty, TestTable.removing("b"))
      val manifest = table.testTable.manifests.head
      assert(manifest.deletedFilesCount.contains(1))
      table.remove("d")
      val Vector(leaf) = leaves(table)
      assert(leaf.location == manifest.path && leaf.recordCount == 4 && leaf.format == FileFormat.Avro)
      assert(positionsOf(table) == Vector(DeletionVector.of(3L)))
      assert(table.names == Set("a", "c") && table.changes == ((Set.empty, Set("d"))))
    }
  }

  /** A table with an Avro manifest of the files a, b, c and d, of which b has the status deleted. */
  private def withAvroLeaf(): RootTable = {
    val table = new RootTable(ManifestSamples.schema, limits = RootLimits(foldShare = 1))
    table.testTable.append(Seq("a", "b", "c", "d").map(TestTable.file(_)): _*)
    table.testTable.commit(Vector.empty, TestTable.removing("b"))
    table.append("x")
    table
  }

  test("a deletion vector may contain entries of an Avro manifest with the status deleted") {
    val table = withAvroLeaf()
    foreignCommit(table)((root, id) =>
      root :+ ManifestVectors.entry(leaves(table).head, DeletionVector.of(0L, 1L, 3L), id, id)
    )
    assert(table.names == Set("c", "x"))
    table.append("y")
    assert(table.names == Set("c", "x", "y"), "the leaf still has a live file")
    table.remove("c")
    table.append("z")
    assert(table.names == Set("x", "y", "z"))
  }

  test("files of an Avro manifest with more entries than stated are not removed, so that the table can still be read") {
    val table = withAvroLeaf()
    foreignCommit(table)((root, _) =>
      root.map { e =>
        if (e.manifest.isEmpty) e else e.copy(recordCount = 2, manifest = e.manifest.map(_.copy(existingFiles = 1)))
      }
    )
    val error = intercept[ValidationFailed](table.write(FileChanges(Vector.empty, TestTable.removing("d"))))
    assert(error.message.contains(leaves(table).head.location))
    assert(table.names == Set("a", "c", "d", "x"))
  }

  private def measured(name: String, text: String): ContentFile = {
    val bound = Some(Map(2 -> SingleValue.encode(StringLiteral(text))))
    TestTable.file(
      name,
      metrics =
        MetricMaps(
          valueCounts = Some(Map(2 -> 10L)),
          nullValueCounts = Some(Map(2 -> 0L)),
          lowerBounds = bound,
          upperBounds = bound
        )
    )
  }

  test("positions in a leaf with several row groups are those of the whole file") {
    val table = new RootTable(ManifestSamples.schema, limits = RootLimits(maxInlineFiles = 3, foldShare = 1))
    val random = new scala.util.Random(1)
    def longText(i: Int) = f"$i%04d" + random.alphanumeric.take(25000).mkString
    table.commit((0 until 130).map(i => measured(s"f$i", longText(i))))
    val path = leaves(table).head.location
    val reader = org.apache.parquet.hadoop.ParquetFileReader.open(iceberglite.parquet.ParquetInput.of(table.io, path))
    try assert(reader.getRowGroups.size > 1)
    finally reader.close()
    table.remove("f0", "f129")
    assert(positionsOf(table) == Vector(DeletionVector.of(0L, 129L)))
    assert(table.names == (1 until 129).map(i => s"f$i").toSet)
    assert(table.live.map(_.file.firstRowId.get) == (1 until 129).map(_ * 10L))
  }

  test("several live deletion vectors of a leaf are united, and the next commit writes one") {
    for {
      second <- Seq(DeletionVector.of(3L), DeletionVector.of(1L, 3L))
      next <- Seq[RootTable => Unit](_.append("x"), _.remove("a"))
    } {
      val table = new RootTable(ManifestSamples.schema, limits = RootLimits(maxInlineFiles = 3, foldShare = 1))
      table.append("a", "b", "c", "d", "e")
      table.remove("b")
      foreignCommit(table)((root, id) => root :+ ManifestVectors.entry(leaves(table).head, second, id, id))
      assert(vectors(table).size == 2 && table.names == Set("a", "c", "e"))
      assert(table.changes == ((Set.empty, Set("d"))), "the other vector was carried over")
      next(table)
      assert(vectors(table).size == 1 && table.names - "x" - "a" == Set("c", "e"))
      assert(table.changes == ((table.names.intersect(Set("x")), Set("a").diff(table.names))))
    }
  }

  test("a leaf of each partition spec is written, and the files keep their partition values") {
    val schema = Schema(
      0,
      Vector(NestedField.optional(1, "a", LongType), NestedField.optional(2, "b", StringType))
    )
    val specs = Vector(
      PartitionSpec(0, Vector(PartitionField(1, 1000, "a", Identity))),
      PartitionSpec(1, Vector(PartitionField(Vector(1, 2), 1001, "ab", Bucket(16))).toVector),
      PartitionSpec(2, Vector(PartitionField(2, 1002, "gone", Void), PartitionField(1, 1003, "a_b", Bucket(4))))
    )
    val table = new RootTable(schema, specs, RootLimits(maxInlineFiles = 9, maxDataFiles = 2, flushedShare = 3))
    def file(name: String, spec: Int, values: Option[Literal]*) =
      TestTable.file(name, PartitionTuple(values.toVector), spec)
    val files = Seq(
      file("a0", 0, Some(LongLiteral(5))),
      file("a1", 0, None),
      file("b0", 1, Some(IntLiteral(7))),
      file("b1", 1, Some(IntLiteral(8))),
      file("c0", 2, None, Some(IntLiteral(3))),
      file("c1", 2, None, None)
    )
    table.commit(files)
    table.commit(Seq(file("a2", 0, None)))
    assert(leaves(table).map(_.specId).toSet == Set(0, 1, 2))
    val found = table.live.map(e => TestTable.nameOf(e.file) -> e.file.partition).toMap
    files.foreach(f => assert(found(TestTable.nameOf(f)) == f.partition))
  }

  test("the values of an identity partition field whose source column was dropped are kept") {
    val schemas = Vector(
      Schema(0, Vector(NestedField.optional(1, "a", LongType), NestedField.optional(2, "b", StringType))),
      Schema(1, Vector(NestedField.optional(1, "a", LongType)))
    )
    val spec = PartitionSpec(0, Vector(PartitionField(2, 1000, "b", Identity)))
    val table = new RootTable(schemas.head, Vector(spec), RootLimits(maxInlineFiles = 1))
    val partition = PartitionTuple(Vector(Some(StringLiteral("a long string of a partition"))))
    table.commit(Seq(TestTable.file("a", partition), TestTable.file("b", partition)))
    table.testTable.metadata = table.testTable.metadata.edited(
      schemas = schemas,
      currentSchemaId = 1,
      specs = Vector(spec, PartitionSpec(1, Vector.empty)),
      defaultSpecId = 1
    )
    table.commit(Seq(TestTable.file("c", specId = 1)))
    table.remove("a")
    table.commit(Seq(TestTable.file("d", specId = 1)))
    assert(leaves(table).map(_.recordCount) == Vector(1L))
    assert(table.live.map(e => TestTable.nameOf(e.file) -> e.file.partition).toMap ==
      Map("b" -> partition, "c" -> PartitionTuple.Empty, "d" -> PartitionTuple.Empty))
  }

  test("a root without entries is the tree of an empty table") {
    val table = new RootTable(ManifestSamples.schema)
    table.append("a", "b")
    table.remove("a", "b")
    table.commit(Seq.empty)
    assert(table.root.isEmpty && table.live.isEmpty && table.changes == ((Set.empty, Set.empty)))
    table.append("c")
    assert(table.names == Set("c"))
  }

  test("a table with 1,000 columns has the statistics of all of them, in the root and in a leaf", Slow) {
    val schema = Schema(0, (1 to 1000).map(i => NestedField.optional(i, s"c$i", LongType)).toVector)
    val metrics = MetricMaps(
      valueCounts = Some((1 to 1000).map(_ -> 10L).toMap),
      nullValueCounts = Some((1 to 1000).map(_ -> 0L).toMap),
      lowerBounds = Some((1 to 1000).map(i => i -> SingleValue.encode(LongLiteral(i))).toMap),
      upperBounds = Some((1 to 1000).map(i => i -> SingleValue.encode(LongLiteral(2L * i))).toMap)
    )
    val table = new RootTable(schema, limits = RootLimits(maxInlineFiles = 1))
    table.testTable.adopt(table.write(FileChanges(Vector("a", "b").map(TestTable.file(_, metrics = metrics)))))
    val Vector(leaf) = table.files.parts
    assert(leaf.metrics.upperNumber(1000, 8) == 2000 && leaf.metrics.valueCounts.get.size == 1000)
    val Vector(a, _) = table.live.map(_.file.metrics)
    assert(a.lowerNumber(1000, 8) == 1000 && a.upperNumber(999, 8) == 1998 && a.valueCounts.get.size == 1000)
  }

  test("a truncated Puffin file with the deletion vector of a leaf is an error that names the file") {
    val limits = RootLimits(maxInlineFiles = 3, foldShare = 1, maxVectorBytes = 1L)
    val table = new RootTable(ManifestSamples.schema, limits = limits)
    table.append("a", "b", "c", "d")
    table.remove("b")
    table.append("x")
    val path = vectors(table).head.location
    assert(path.endsWith(".puffin"))
    val bytes = table.io.read(path)
    table.io.replace(path, bytes.take(20))
    val error = intercept[UnreadableFile](table.live)
    assert(error.file == path, error)
  }

  test("a removal that another writer's rewrite of the leaf overtook finds the file in the new leaf") {
    val table = new RootTable(ManifestSamples.schema, limits = RootLimits(maxInlineFiles = 3))
    table.append("a", "b", "c", "d")
    table.commit(Seq("a", "b", "c", "d").map(dataVector(_)))
    val changes = FileChanges(
      Vector(dataVector("c", 2)),
      TestTable.removing("d", "dv1-c")
    )
    val lost = table.write(changes, attempt = 1)
    table.remove("a")
    table.append("x")
    assert(leaves(table).map(_.recordCount).toSet == Set(3L) && vectors(table).isEmpty, "both leaves are rewritten")
    val retry = table.write(changes, Some(lost), attempt = 2)
    table.testTable.adopt(retry)
    table.check()
    assert(positionsOf(table).toSet == Set(DeletionVector.of(2L), DeletionVector.of(1L, 2L)))
    assert(table.names == Set("b", "c", "x", "dv1-b", "dv2-c"))
    assert(table.changes == ((Set("dv2-c"), Set("d", "dv1-d", "dv1-c"))))
  }

  test("two writers that remove the same and different files of one leaf lose no removal") {
    val table = new RootTable(ManifestSamples.schema, limits = RootLimits(maxInlineFiles = 3, foldShare = 1))
    table.append("a", "b", "c", "d", "e")
    val changes = FileChanges(Vector.empty, TestTable.removing("b", "c"))
    val lost = table.write(changes, attempt = 1)
    table.remove("c", "d")
    val retry = table.write(changes, Some(lost), attempt = 2)
    table.testTable.adopt(retry)
    table.check()
    assert(positionsOf(table) == Vector(DeletionVector.of(1L, 2L, 3L)) && table.names == Set("a", "e"))
    assert(table.changes == ((Set.empty, Set("b"))) && retry.removed.map(e => TestTable.nameOf(e.file)) == Vector("b"))
  }
}
