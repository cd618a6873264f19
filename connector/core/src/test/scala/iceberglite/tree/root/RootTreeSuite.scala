package iceberglite.tree.root

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.spec.FormatVersion
import iceberglite.spec.IcebergError.UnreadableFile
import iceberglite.spec.file.{Content, ContentFile, EntryStatus, FileFormat, ManifestEntry}
import iceberglite.spec.file.EntryStatus.{Added, Deleted, Existing}
import iceberglite.tree.{FileChanges, TestTable}
import iceberglite.tree.manifestlist.ManifestSamples
import iceberglite.puffin.DeletionVector

/**
 * Tests [[RootTree]], the metadata tree of version 4: a root manifest lists data files and leaf manifests (leaves),
 * which list more files.
 */
class RootTreeSuite extends AnyFunSuite {
  private def newTable(maxInlineFiles: Int = 3): RootTable =
    new RootTable(ManifestSamples.schema, limits = RootLimits(maxInlineFiles, foldShare = 1))

  private def statuses(table: RootTable): Vector[(EntryContent, EntryStatus)] =
    table.root.map(e => e.content -> e.version.status)

  private def positions(table: RootTable, status: EntryStatus): DeletionVector = {
    val entry = table.root.filter(e => e.content == EntryContent.ManifestVector && e.version.status == status).head
    ManifestVectors.read(table.io, "root", entry)
  }

  test("a small append writes only a root, which lists the new files, and carries over the other files") {
    val table = newTable()
    assert(table.append("a", "b").written.size == 1)
    val second = table.append("c")
    assert(second.written == Vector(second.pointer))
    assert(statuses(table) ==
      Vector(EntryContent.Data -> Added, EntryContent.Data -> Existing, EntryContent.Data -> Existing))
    assert(table.names == Set("a", "b", "c") && table.changes == ((Set("c"), Set.empty)))
    val ids =
      table.live.map(e => TestTable.nameOf(e.file) -> ((e.snapshotId, e.sequenceNumber, e.file.firstRowId))).toMap
    assert(ids("a") == ((Some(1L), Some(1L), Some(0L))) && ids("b") == ((Some(1L), Some(1L), Some(10L))))
    assert(ids("c") == ((Some(2L), Some(2L), Some(20L))) && second.addedRows.contains(10L))
  }

  test("a large append writes a leaf, whose files inherit the sequence number and consecutive row ids") {
    val table = newTable()
    table.append("x")
    val written = table.append("a", "b", "c", "d")
    assert(written.written.size == 2 && written.references.size == 2 && written.addedRows.contains(40L))
    assert(table.changes == ((Set("a", "b", "c", "d"), Set.empty)))
    val d = table.live.find(e => TestTable.nameOf(e.file) == "d").get
    assert(d.sequenceNumber.contains(2L) && d.snapshotId.contains(2L) && d.file.firstRowId.contains(40L))
    table.append("y")
    assert(table.changes == ((Set("y"), Set.empty)))
    assert(table.live.find(e => TestTable.nameOf(e.file) == "d").contains(d))
  }

  test("a file that the root lists is removed by an entry with the status deleted, which the next root omits") {
    val table = newTable()
    table.append("a", "b")
    val written = table.remove("a")
    assert(written.written.size == 1 && written.removed.map(e => TestTable.nameOf(e.file)) == Vector("a"))
    assert(table.names == Set("b") && table.changes == ((Set.empty, Set("a"))))
    assert(statuses(table).toSet == Set(EntryContent.Data -> Deleted, EntryContent.Data -> Existing))
    table.append("c")
    assert(table.root.forall(_.isLive) && table.names == Set("b", "c"))
  }

  test("a file in a leaf is removed by a deletion vector in the root, and the leaf is not rewritten") {
    val table = newTable()
    table.append("a", "b", "c", "d")
    assert(table.remove("b").written.size == 1)
    assert(table.names == Set("a", "c", "d") && table.changes == ((Set.empty, Set("b"))))
    assert(positions(table, Added) == DeletionVector.of(1L))
    table.remove("c")
    assert(table.names == Set("a", "d") && table.changes == ((Set.empty, Set("c"))))
    assert(positions(table, Added) == DeletionVector.of(1L, 2L) && positions(table, Deleted) == DeletionVector.of(1L))
    assert(table.live.flatMap(_.file.firstRowId) == Vector(0L, 30L))
    table.append("e")
    assert(statuses(table).count(_ == EntryContent.ManifestVector -> Existing) == 1)
    assert(table.changes == ((Set("e"), Set.empty)) && table.names == Set("a", "d", "e"))
  }

  test(
    "a leaf without live files stays in the root of the commit that removed them, and is dropped by the next commit"
  ) {
    val table = newTable()
    table.append("a", "b", "c", "d")
    table.remove("a", "b", "c", "d")
    assert(table.names.isEmpty && table.changes == ((Set.empty, Set("a", "b", "c", "d"))))
    table.append("e")
    assert(statuses(table) == Vector(EntryContent.Data -> Added) && table.changes == ((Set("e"), Set.empty)))
  }

  private def deletionVector(of: String, offset: Long): ContentFile =
    TestTable.positionDeletes(s"dv-$of", Some(of)).copy(
      format = FileFormat.Puffin,
      contentOffset = Some(offset),
      contentSizeInBytes = Some(40L)
    )

  test("LeafPart.whole also has the entries that the deletion vector of the leaf removes") {
    val table = newTable()
    table.append("a", "b", "c", "d")
    table.remove("b", "c")
    val Seq(leaf) = table.files.parts.collect { case leaf: LeafPart => leaf }
    assert(leaf.liveFiles.contains(2L) && leaf.whole.liveFiles.contains(4L))
    assert(leaf.only(DeletionVector.of(0L)).whole.liveFiles.contains(4L))
    assert(leaf.whole.cacheKey(table.io) == leaf.cacheKey(table.io))
    val whole = leaf.whole
    assert(whole.whole eq whole)
  }

  test("the deletion vector of a removed data file is removed with it, in the root and in a leaf") {
    Seq(1, 10).foreach { maxInlineFiles =>
      val table = newTable(maxInlineFiles)
      table.append("a", "b", "c")
      table.commit(Seq(deletionVector("a", 4L), deletionVector("b", 50L)))
      assert(table.live.size == 5)
      table.remove("b")
      assert(table.live.map(e => e.file.content -> e.file.referencedDataFile).toSet == Set(
        (Content.Data, None),
        (Content.PositionDeletes, Some(TestTable.file("a").path))
      ))
      assert(table.live.size == 3 && table.files.changes(iceberglite.tree.PartFilter.All).size == 2)
    }
  }

  test("a retry reuses the leaf of an earlier attempt, with the sequence number and row ids of the retry") {
    val table = newTable()
    val changes = FileChanges(Vector("a", "b", "c", "d").map(TestTable.file(_)))
    val lost = table.write(changes, attempt = 1)
    table.append("x")
    val retry = table.write(changes, Some(lost), attempt = 2)
    assert(retry.written == Vector(retry.pointer) && lost.written.toSet.intersect(retry.references).size == 1)
    table.testTable.adopt(retry)
    val a = table.live.find(e => TestTable.nameOf(e.file) == "a").get
    assert(a.sequenceNumber.contains(2L) && a.file.firstRowId.contains(10L))
  }

  /** Returns live files without their row ids, which an upgrade assigns. */
  private def comparable(entries: Seq[ManifestEntry]): Map[String, ManifestEntry] = entries.map { e =>
    e.file.path -> e.copy(file = ManifestSamples.comparable(e.file).copy(firstRowId = None))
  }.toMap

  test("the first commit after an upgrade keeps the manifests of versions 1 to 3 as leaves") {
    FormatVersion.adopted.foreach { version =>
      val table = new RootTable(ManifestSamples.schema, Vector(ManifestSamples.byId), version = version)
      def file(name: String, id: Long) = ManifestSamples.dataFile(name, Some(id))
      table.testTable.commit(Vector(file("a", 1), file("b", 2), file("c", 3)))
      table.testTable.commit(Vector.empty, new NamedSelector(Set("b")))
      val before = table.live
      val manifests = table.testTable.manifests.map(_.path).toSet
      val written = table.commit(Vector(file("d", 4)))
      assert(written.written.size == 1 && manifests.subsetOf(written.references))
      assert(comparable(table.live.filterNot(_.file.path.endsWith("d.parquet"))) == comparable(before))
      val ids = table.live.map(e => e.file.firstRowId.get -> e.file.recordCount).sorted
      assert(ids.sliding(2).forall { case Seq((a, rows), (b, _)) => a + rows <= b })
      table.commit(Vector.empty, new NamedSelector(Set("c")))
      assert(table.live.map(_.file.path.split('/').last).toSet == Set("a.parquet", "d.parquet"))
      assert(table.files.parts.flatMap(_.partitions).nonEmpty)
    }
  }

  /**
   * Commits random changes, with small limits. The first commits write manifest lists, and the others write roots.
   * After each commit, [[RootTable.commit]] checks the invariants of the tree.
   */
  private def checkHistory(seed: Int, commits: Int): Unit = {
    val random = new Random(seed)
    val limits = RootLimits(1 + random.nextInt(4), 1 + random.nextInt(8), 2, 2, 1 + random.nextInt(4), 4000L, 3).copy(
      inlineBytes = 100L + random.nextInt(800),
      maxRootBytes = 500L + random.nextInt(2000),
      maxVectorBytes = 1L + random.nextInt(80),
      maxVectorsBytes = 1L + random.nextInt(200)
    )
    val table = new RootTable(ManifestSamples.schema, limits = limits)
    val expected = scala.collection.mutable.Map.empty[Long, Set[String]]
    var current = Set.empty[String]
    val upgradeAt = random.nextInt(commits / 2)
    (0 until commits).foreach { i =>
      val data = (0 until random.nextInt(6)).map(j => s"f$i-$j")
      val chosen = current.filter(name => !name.startsWith("dv-") && random.nextInt(4) == 0)
      val rest = current -- chosen
      val deleted = rest.filter(n => !n.startsWith("dv-") && !rest(s"dv-$n") && random.nextInt(5) == 0)
      val added = data.map(TestTable.file(_)) ++ deleted.toSeq.map(deletionVector(_, 4L))
      val removed = chosen ++ chosen.map("dv-" + _).intersect(current)
      val selector = TestTable.removing(chosen.toSeq: _*)
      if (i < upgradeAt) table.testTable.commit(added.toVector, selector) else table.commit(added, selector)
      val addedNames = data.toSet ++ deleted.map("dv-" + _)
      current = current -- removed ++ addedNames
      expected(table.testTable.metadata.currentSnapshotId.get) = current
      if (i >= upgradeAt) assert(table.changes == ((addedNames, removed)))
    }
    table.testTable.metadata.snapshots.foreach { s =>
      assert(table.entries(s).filter(_.isLive).map(e => TestTable.nameOf(e.file)).toSet == expected(s.snapshotId))
    }
    assert(table.live.flatMap(_.file.firstRowId).forall(_ + 10 <= table.testTable.metadata.nextRowId))
  }

  test("random histories have the expected files in every snapshot, also after an upgrade") {
    (1 to 3).foreach(checkHistory(_, commits = 8))
  }

  test("many random histories have the expected files in every snapshot, also after an upgrade", Slow) {
    (4 to 23).foreach(checkHistory(_, commits = 20))
  }

  /** Returns why a root is rejected that has the given deletion vectors instead of those of the current snapshot. */
  private def reasonOf(table: RootTable, replaced: Vector[ContentEntry]): String = {
    val others = table.root.filterNot(_.content == EntryContent.ManifestVector)
    val columns = RootSamples.columnsOf(table.testTable.metadata)
    val path = s"mem:/t/metadata/${replaced.hashCode}.parquet"
    table.io.write(path, RootManifests.write(path, ManifestKind.Root, columns, others ++ replaced))
    val snapshot = table.testTable.metadata.currentSnapshot.get.copy(manifestList = Some(path))
    intercept[UnreadableFile](table.files(snapshot).parts).reason
  }

  test("a deletion vector that is damaged, or does not fit its leaf, is rejected") {
    val table = newTable()
    table.append("a", "b", "c", "d")
    table.remove("b")
    val vector = table.root.find(_.content == EntryContent.ManifestVector).get
    val leaf = table.root.find(_.manifest.isDefined).get
    def reason(replaced: ContentEntry): String = reasonOf(table, Vector(replaced))
    val beyond = ManifestVectors.entry(leaf, DeletionVector.of(1L, 4L, 9L), 2L, 2L)
    assert(reason(beyond).contains("position 4, but the manifest has 4 entries"))
    assert(reason(vector.copy(recordCount = 2L)).contains("has 1 positions, but its entry states 2"))
    val bytes = DeletionVector.of(1L).toBytes
    bytes(bytes.length - 1) = (bytes.last + 1).toByte
    val damaged = vector.copy(vector = Some(VectorContent.Inline(java.nio.ByteBuffer.wrap(bytes))))
    assert(reason(damaged).contains("checksum"))
  }

  test("deletion vectors that are too large together are rejected before they are read") {
    val table = newTable()
    table.append("a", "b", "c", "d")
    table.remove("b")
    val vector = table.root.find(_.content == EntryContent.ManifestVector).get
    val (size, count) = (16L << 20, 17L)
    // The Puffin file does not exist.
    val many = (0L until count).toVector.map(i =>
      vector.copy(
        location = "mem:/t/metadata/missing.puffin",
        fileSizeInBytes = Some(size * count),
        vector = Some(VectorContent.InPuffin(size * i, size))
      )
    )
    assert(reasonOf(table, many).contains(s"have ${size * count} bytes, over the limit of 268435456"))
  }
}
