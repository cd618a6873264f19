package iceberglite.tree.root

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.puffin.DeletionVector
import iceberglite.spec.file.EntryStatus.{Added, Existing}
import iceberglite.tree.ManifestCache
import iceberglite.tree.manifestlist.ManifestSamples

/** Tests [[TreeInvariants]]. The comments in that class describe the rules I4 to I13. */
class TreeInvariantsSuite extends AnyFunSuite {

  /** A table with a leaf of four files, from which one was removed, and with one file in the root. */
  private def newTable(): RootTable = {
    val table = new RootTable(ManifestSamples.schema)
    table.append("a", "b", "c", "d")
    table.append("x")
    table.remove("b")
    table
  }

  /** Returns the violated rules after `change` has changed the entries of the root of the current snapshot. */
  private def violated(table: RootTable)(change: Vector[ContentEntry] => Vector[ContentEntry]): Set[String] = {
    val path = "mem:/t/metadata/changed.parquet"
    val columns = RootSamples.columnsOf(table.lists.metadata)
    table.io.write(path, RootManifests.write(path, ManifestKind.Root, columns, change(table.root)))
    val current = table.lists.metadata.currentSnapshot.get
    val parent = current.parentSnapshotId.map(id => table.files(table.lists.metadata.snapshot(id)))
    val changed =
      new RootFiles(current.copy(manifestList = Some(path)), table.lists.tree, columns, ManifestCache.Disabled)
    new TreeInvariants(changed, parent, table.lists.tree).violations.map(_.rule).toSet
  }

  private def isVector(e: ContentEntry) = e.content == EntryContent.ManifestVector
  private def isLeaf(e: ContentEntry) = e.manifest.isDefined

  test("a tree that a commit wrote violates no rule") {
    assert(violated(newTable())(identity).isEmpty)
  }

  test("two live deletion vectors of a leaf, and a vector without a leaf, violate I4") {
    assert(violated(newTable())(root => root ++ root.filter(isVector)) == Set("I4"))
    assert(violated(newTable())(_.map(e => if (isVector(e)) e.copy(referencedFile = Some("mem:/gone")) else e))("I4"))
  }

  test("a deletion vector that loses positions violates I5") {
    val table = newTable()
    table.remove("c")
    val leaf = table.root.find(isLeaf).get
    val smaller = ManifestVectors.entry(leaf, DeletionVector.of(2L), 4L, 4L)
    assert(violated(table)(_.filterNot(isVector) :+ smaller)("I5"))
  }

  test("a file that is live twice violates I6") {
    assert(violated(newTable())(root => root ++ root.filter(e => e.content == EntryContent.Data && e.isLive))("I6"))
  }

  test("wrong counts and narrow bounds of a leaf violate I7") {
    assert(violated(newTable())(_.map(e => e.copy(manifest = e.manifest.map(_.copy(existingFiles = 9)))))("I7"))
    assert(violated(newTable())(_.map { e =>
      if (isLeaf(e)) e.copy(stats = ContentStats(Map(1 -> FieldStats(valueCount = Some(0L))))) else e
    })("I7"))
  }

  test("a row id of two files violates I9") {
    assert(violated(newTable())(_.map(e =>
      if (e.content == EntryContent.Data) e.copy(firstRowId = Some(5L)) else e
    )) == Set("I9"))
  }

  test("changes that the root does not state violate I10") {
    assert(violated(newTable())(_.map(e =>
      if (isVector(e)) e.copy(version = e.version.copy(status = Existing)) else e
    )) == Set("I10"))
  }

  test("an existing leaf with files that the snapshot adds violates I11") {
    val table = new RootTable(ManifestSamples.schema)
    table.append("a", "b", "c", "d")
    assert(violated(table)(_.map(e => e.copy(version = e.version.copy(status = Existing))))("I11"))
    assert(table.root.forall(_.version.status == Added))
  }

  test("a leaf with live files that is dropped violates I13") {
    assert(violated(newTable())(_.filterNot(e => isLeaf(e) || isVector(e)))("I13"))
  }
}
