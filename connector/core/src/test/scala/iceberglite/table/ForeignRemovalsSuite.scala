package iceberglite.table

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.IcebergError.ConcurrentChange
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.spec.file.EntryStatus.{Added, Deleted, Existing}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.Type.LongType
import iceberglite.table.action.RowFilter
import iceberglite.tree.TestTable
import iceberglite.spec.property.IsolationLevel
import iceberglite.table.conflict.Isolation

/**
 * Tests conflicts with commits of other engines. In the manifests of such commits, an entry of a removed file (status
 * DELETED) may have another snapshot id than that of the snapshot that removed the file.
 */
class ForeignRemovalsSuite extends AnyFunSuite {
  private val schema = Schema(0, Vector(NestedField.optional(1, "id", LongType)))
  private val files = Vector("a", "b", "c").map(TestTable.file(_))

  private def check(t: TestTable, since: Long): Unit = {
    val context = CommitContext(t.io, "db.t", "mine", Map.empty, TestTables.environment)
    val rows = new RowFilter(AlwaysTrue, caseSensitive = true, t.metadata)
    Isolation(IsolationLevel.Snapshot, Some(since)).check(t.metadata, t.metadata.currentSnapshot, context, rows)
  }

  test("a concurrent removal conflicts, whatever snapshot id its entry has") {
    val t = new TestTable(schema)
    t.overwrite((Added, 1L, files(0)), (Added, 1L, files(1)))
    t.overwrite((Existing, 1L, files(0)), (Deleted, 1L, files(1)))
    val error = intercept[ConcurrentChange](check(t, since = 1L))
    assert(error.getMessage.contains("snapshot 2 removed mem:/t/data/b.parquet"))
    check(t, since = 2L)
  }

  test("a removal by a snapshot that the writer has read is not a conflict, even if a later manifest repeats it") {
    val t = new TestTable(schema)
    t.overwrite((Added, 1L, files(0)), (Added, 1L, files(1)))
    t.overwrite((Existing, 1L, files(0)), (Deleted, 2L, files(1)))
    t.overwrite((Existing, 1L, files(0)), (Deleted, 2L, files(1)), (Added, 3L, files(2)))
    check(t, since = 2L)
    assert(intercept[ConcurrentChange](check(t, since = 1L)).getMessage.contains("snapshot 2 removed"))
  }
}
