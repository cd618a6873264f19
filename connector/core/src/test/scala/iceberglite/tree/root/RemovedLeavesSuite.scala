package iceberglite.tree.root

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.puffin.DeletionVector
import iceberglite.spec.file.EntryStatus.{Added, Deleted, Existing}
import iceberglite.tree.{FileChanges, PartFilter, SeenParts, TestTable}
import iceberglite.tree.manifestlist.ManifestSamples

/** Tests roots of other writers that remove whole leaf manifests; see [[RemovedLeaves]]. */
class RemovedLeavesSuite extends AnyFunSuite {

  /** Returns a table with a leaf of the files a, b, c and d, from which b was removed. */
  private def newTable(): RootTable = {
    val table = new RootTable(ManifestSamples.schema, limits = RootLimits(3, foldShare = 1))
    table.append("a", "b", "c", "d")
    table.remove("b")
    table
  }

  private def isVector(e: ContentEntry) = e.content == EntryContent.ManifestVector

  private def deleted(e: ContentEntry, snapshotId: Long): ContentEntry =
    e.copy(version = e.version.copy(status = Deleted, snapshotId = Some(snapshotId)))

  /** Commits a snapshot with the root that `change` returns for the entries of the current root and the new id. */
  private def commit(table: RootTable)(change: (Vector[ContentEntry], Long) => Vector[ContentEntry]): Unit = {
    val id = table.testTable.header().snapshotId
    val path = s"mem:/t/metadata/foreign-$id.parquet"
    val columns = RootSamples.columnsOf(table.testTable.metadata)
    table.io.write(path, RootManifests.write(path, ManifestKind.Root, columns, change(table.root, id)))
    table.testTable.adopt(table.write(FileChanges(Vector.empty)).copy(pointer = path))
  }

  private def removeAll(table: RootTable): Unit = commit(table)((root, id) => root.map(deleted(_, id)))

  private def removedParts(table: RootTable): Vector[String] = {
    val files = table.files
    files.removedParts.flatMap(files.entries).map(e => s"${TestTable.nameOf(e.file)} ${e.status} ${e.snapshotId.get}")
  }

  test("the files of a removed leaf are removed, except those that its deletion vector had removed before") {
    val table = newTable()
    removeAll(table)
    table.check()
    assert(table.names.isEmpty && table.changes == ((Set.empty, Set("a", "c", "d"))))
    assert(removedParts(table) == Vector("a", "c", "d").map(name => s"$name $Deleted 3"))
    table.append("e")
    assert(table.names == Set("e") && table.changes == ((Set("e"), Set.empty)) && table.root.forall(!isVector(_)))
  }

  test("a new deletion vector of a removed leaf states which files the snapshot removed") {
    val table = newTable()
    commit(table) { (root, id) =>
      val leaf = root.find(_.manifest.isDefined).get
      Vector(deleted(leaf, id), ManifestVectors.entry(leaf, DeletionVector.of(0L, 2L, 3L), id, id))
    }
    table.check()
    assert(table.names.isEmpty && table.changes == ((Set.empty, Set("a", "c", "d"))))
    table.append("e")
    assert(table.names == Set("e") && table.root.forall(!isVector(_)))
  }

  test("files of a removed leaf that a new leaf lists are carried over, or removed as the new leaf states") {
    val table = newTable()
    val live = table.live
    commit(table) { (root, id) =>
      val columns = RootSamples.columnsOf(table.testTable.metadata)
      val files = new EntryFiles(columns)
      val entries = live.map { e =>
        val isRemoved = TestTable.nameOf(e.file) == "c"
        files.toContent(if (isRemoved) e.copy(status = Deleted, snapshotId = Some(id)) else e.copy(status = Existing))
      }
      val path = "mem:/t/metadata/mixed.parquet"
      val bytes = RootManifests.write(path, ManifestKind.DataLeaf, columns, entries)
      table.io.write(path, bytes)
      val old = root.find(_.manifest.isDefined).get
      val mixed = old.copy(
        location = path,
        version = VersionInfo(Added, Some(id), Some(id), Some(id)),
        recordCount = 3,
        fileSizeInBytes = Some(bytes.length.toLong),
        manifest = Some(LeafManifestWriter.count(entries.iterator, id))
      )
      mixed +: root.map(deleted(_, id))
    }
    table.check()
    assert(table.names == Set("a", "d") && table.changes == ((Set.empty, Set("c"))))
  }

  test("a removed leaf is kept as long as the snapshot that removed it, and belongs to no other snapshot") {
    val table = newTable()
    val leaf = table.root.find(_.manifest.isDefined).get.location
    removeAll(table)
    val removing = table.files.reachable(new SeenParts)
    assert(removing.metadata.contains(leaf) && removing.parts.flatMap(table.files.entries).isEmpty)
    commit(table)((root, _) => root)
    assert(table.changes == ((Set.empty, Set.empty)) && table.files.changes(PartFilter.All).isEmpty)
    assert(!table.files.reachable(new SeenParts).metadata.contains(leaf))
  }

  test("a delete leaf that applied only to a removed leaf is carried over without this restriction") {
    val table = new RootTable(ManifestSamples.schema, limits = RootLimits(maxInlineFiles = 1, foldShare = 1))
    table.append("a", "b")
    table.commit(Seq(TestTable.equalityDeletes("q"), TestTable.equalityDeletes("r")))
    commit(table) { (root, id) =>
      val leaf = root.find(_.content == EntryContent.DataManifest).get
      root.map(e => if (e.content == EntryContent.DeleteManifest) e.copy(referencedFile = Some(leaf.location)) else e)
        .map(e => if (e.location == leaf.location) deleted(e, id) else e)
    }
    table.append("e")
    assert(table.root.filter(_.content == EntryContent.DeleteManifest).map(_.referencedFile) == Vector(None))
  }

  test("a removed deletion vector of a leaf that is neither removed nor has a new vector violates I4") {
    val table = newTable()
    commit(table)((root, id) => root.map(e => if (isVector(e)) deleted(e, id) else e))
    val message = intercept[AssertionError](table.check()).toString
    assert(message.contains("I4") && message.contains("neither replaced"))
  }
}
