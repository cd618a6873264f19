package iceberglite.table

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.FormatVersion.V4
import iceberglite.spec.IcebergError.ConcurrentChange
import iceberglite.spec.property.IsolationLevel
import iceberglite.table.Actions._
import iceberglite.table.TestTables._
import iceberglite.table.action.{DeleteFiles, RowDelta}
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
}
