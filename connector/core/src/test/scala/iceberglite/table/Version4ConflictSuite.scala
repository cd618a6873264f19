package iceberglite.table

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.FormatVersion.V4
import iceberglite.spec.IcebergError.ConcurrentChange
import iceberglite.spec.property.IsolationLevel
import iceberglite.table.Actions._
import iceberglite.table.TestTables._
import iceberglite.table.action.{ConvertDeletes, DeleteFiles, RemoveFiles, RowDelta}
import iceberglite.table.conflict.Isolation

/** Tests that conflicts are found in tables of version 4, whose roots list data files themselves. */
class Version4ConflictSuite extends AnyFunSuite {

  test("a concurrent removal of a file conflicts, although only files of other partitions are live in the root") {
    val t = tableByCategory(V4)
    val a = fileOf("a", "a")
    t.append(a, fileOf("b", "b"))
    val read = t.table
    val vectors = t.vectors("v.puffin", a -> Seq(1L))
    t.commit(new DeleteFiles(category("a")))
    val isolation = Isolation(IsolationLevel.Snapshot, read.currentSnapshot.map(_.snapshotId))
    val update = new RowDelta(vectors :+ fileOf("a", "a2"), isolation = Some(isolation))
    intercept[ConcurrentChange](t.commitOn(read, update))
    assert(liveFiles(t.table) == Vector("b"))
  }

  private val low = file("low", ids = (0, 9))
  private val equality = equalityDeletes("eq", beside = low, ids = (3, 3))

  /** A table with a leaf of files with low ids, and with equality deletes of one of them. */
  private def withEqualityDeletes(): Actions = {
    val t = unpartitionedTable(V4, "write.v4.single-commit-max-files" -> "1")
    t.append(low, file("low2", ids = (0, 9)))
    t.commit(new RowDelta(Vector(equality)))
    t
  }

  private def conversion(t: Actions, read: Table): ConvertDeletes = {
    val vectors = t.vectors("v.puffin", low -> Seq(3L))
    new ConvertDeletes(Vector(equality), Vector.empty, vectors, Vector(low), read.currentSnapshot.get.snapshotId)
  }

  test("a conversion of equality deletes does not read leaves that cannot list its data files") {
    val t = withEqualityDeletes()
    val before = t.store.paths
    t.append(file("high", ids = (100, 109)), file("high2", ids = (100, 109)))
    val other = (t.store.paths -- before).filter(_.endsWith("-m0.parquet"))
    assert(other.size == 1)
    other.foreach(t.store.delete)
    val read = t.table
    t.append(file("later", ids = (200, 209)))
    val table = t.commitOn(read, conversion(t, read))
    assert(operation(table) == "replace" && summary(table)("removed-equality-delete-files") == "1")
  }

  test("a conversion of equality deletes conflicts with a concurrent removal of its data file") {
    val t = withEqualityDeletes()
    val read = t.table
    t.commit(new RemoveFiles(Set("low")))
    intercept[ConcurrentChange](t.commitOn(read, conversion(t, read)))
    assert(liveFiles(t.table).contains("eq"))
  }
}
