package iceberglite.inspect

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.FormatVersion.{V2, V4}
import iceberglite.spec.TestMetadata._
import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.metadata.Snapshot
import iceberglite.tree.TestTable
import iceberglite.tree.TestTable.{file, removing}
import iceberglite.tree.manifestlist.ManifestSamples

/** Tests the metadata tables about the metadata trees of version 4. */
class Version4MetadataTablesSuite extends AnyFunSuite {

  /** A table whose first commit writes a leaf of five files. The second commit adds a file to the root. */
  private def newTable(): TestTable = {
    val table =
      new TestTable(ManifestSamples.schema, version = V4, properties = Map("write.v4.single-commit-max-files" -> "3"))
    table.append(file("a"), file("b"), file("c"), file("d"), file("x"))
    table.append(file("e"))
    table
  }

  private def remove(t: TestTable, names: String*): Unit = {
    t.commit(Vector.empty, removing(names: _*))
    ()
  }

  private def rows(t: TestTable, name: String): Vector[Map[String, Any]] = rows(t, name, t.metadata.currentSnapshot)

  private def rows(t: TestTable, name: String, snapshot: Option[Snapshot]): Vector[Map[String, Any]] = {
    val table = MetadataTables.find(name).get
    val fields = table.schema(t.table).fields.map(_.name)
    table.rows(t.table, snapshot).toVector.map(row => fields.zip(row.values).toMap)
  }

  private def counts(row: Map[String, Any]): (Any, Any, Any, Any) =
    (
      row("level"),
      row("added_data_files_count"),
      row("existing_data_files_count"),
      row("deleted_data_files_count")
    )

  private def filesIn(rows: Vector[Map[String, Any]]): Vector[(String, Any)] = rows.map { row =>
    val MetadataRow(values) = row("data_file")
    values.collectFirst { case path: String if path.contains("/data/") => path }.get.split('/').last.take(1) ->
      row("status")
  }

  test("the table manifests lists the root and the leaves, and counts the files that the snapshot removed as deleted") {
    val t = newTable()
    assert(rows(t, "manifests").map(counts) == Vector((0, 1, 0, 0), (1, 5, 0, 0)))
    remove(t, "b", "e")
    val found = rows(t, "manifests")
    assert(found.map(counts) == Vector((0, 0, 0, 1), (1, 4, 0, 1)))
    assert(found.map(_("content")) == Vector(2, 0) && found.map(_("partition_spec_id")) == Vector(None, Some(0)))
    assert(found.head("path") == t.metadata.currentSnapshot.get.manifestList.get)
    assert(found.head("length") == t.io.info(found.head("path").toString).get.length)
    assert(rows(t, "all_manifests").map(r => (r("reference_snapshot_id"), r("level"))) ==
      Vector((1L, 0), (1L, 1), (2L, 0), (2L, 1), (3L, 0), (3L, 1)))
  }

  test("before the upgrade to version 4, the snapshots of a table have manifests of level 1 and no root") {
    val t = new TestTable(ManifestSamples.schema, version = V2)
    t.append(file("a"), file("b"))
    val before = t.metadata.currentSnapshot
    t.metadata = t.metadata.edited(formatVersion = V4)
    t.append(file("c"))
    assert(rows(t, "manifests", before).map(counts) == Vector((1, 2, 0, 0)))
    assert(rows(t, "manifests").map(counts) == Vector((0, 1, 0, 0), (1, 2, 0, 0)))
    remove(t, "a")
    assert(rows(t, "manifests").map(counts) == Vector((0, 0, 1, 0), (1, 1, 0, 1)))
    val list = rows(t, "tree", before).head
    assert((list("level"), list("content"), list("length")) == ((0, "manifest list", None)))
  }

  test("the table tree has the counts of entries, of deleted entries and of overlapping manifests of each node") {
    val t = newTable()
    remove(t, "b", "e")
    t.append(file("f"), file("g"), file("h"), file("i"))
    val found = rows(t, "tree")
    assert(found.map(r => (r("level"), r("content"), r("entries"), r("deleted_entries"))) ==
      Vector((0, "root", Some(3L), Some(0L)), (1, "data", Some(4L), Some(0L)), (1, "data", Some(5L), Some(1L))))
    assert(found.map(_("overlapping_manifests")) == Vector(None, Some(1L), Some(1L)))
    assert(found.forall(r => r("length") == t.io.info(r("path").toString).map(_.length)))
  }

  test("the table entries includes the files that the snapshot removed; all_entries has those of all snapshots") {
    val t = newTable()
    remove(t, "b", "e")
    assert(filesIn(rows(t, "entries")).toSet == Set("a" -> 1, "c" -> 1, "d" -> 1, "x" -> 1, "b" -> 2, "e" -> 2))
    assert(rows(t, "entries").filter(_("status") == 2).map(_("snapshot_id")) == Vector(Some(3L), Some(3L)))
    remove(t, "c")
    assert(filesIn(rows(t, "entries")).toSet == Set("a" -> 1, "d" -> 1, "x" -> 1, "c" -> 2))
    val all = filesIn(rows(t, "all_entries"))
    assert(all.toSet ==
      Set("a" -> 1, "b" -> 1, "c" -> 1, "d" -> 1, "x" -> 1, "e" -> 1, "b" -> 2, "e" -> 2, "c" -> 2))
    assert(all.distinct.size == all.size)
  }

  test("the table all_files has each file of a leaf once, although the leaf's deletion vector changes") {
    val t = newTable()
    t.append(file("f"))
    remove(t, "b")
    remove(t, "c")
    val paths = rows(t, "all_files").map(_("file_path").toString)
    assert(paths.toSet == Set("a", "b", "c", "d", "x", "e", "f").map(file(_).path) && paths.distinct.size == paths.size)
    assert(rows(t, "files").map(r => r("file_path").toString).toSet == Set("a", "d", "x", "e", "f").map(file(_).path))
  }

  test("a validation finds no violation in a tree that commits wrote, and reports a damaged leaf") {
    val t = newTable()
    remove(t, "b")
    t.metadata.snapshots.foreach(s => assert(TreeValidation.of(t.table, s).isEmpty))
    val leaf = rows(t, "tree").filter(_("level") == 1).head("path").toString
    t.io.replace(leaf, t.io.read(leaf).take(100))
    val found = TreeValidation.of(t.table, t.metadata.currentSnapshot.get)
    assert(found.size == 1 && found.head.rule == "I1-I3" && found.head.reason.contains(leaf))
  }

  test("a snapshot with a manifest list cannot be validated as a tree of version 4") {
    val t = new TestTable(ManifestSamples.schema)
    t.append(file("a"))
    val e = intercept[InvalidArgument](TreeValidation.of(t.table, t.metadata.currentSnapshot.get))
    assert(e.getMessage.contains("has a manifest list"))
  }
}
