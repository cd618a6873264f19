package iceberglite.scan

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.TestMetadata._
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.spec.file.EntryStatus.{Added, Deleted, Existing}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.Type.LongType
import iceberglite.tree.{ManifestCache, TestTable}

/** Tests which file changes a changelog scan derives from manifest entries. */
class SnapshotChangesSuite extends AnyFunSuite {
  private val schema = Schema(0, Vector(NestedField.optional(1, "id", LongType)))
  private val files = Vector("a", "b", "c").map(TestTable.file(_))

  /** Returns the snapshot id, type and file name of each change. */
  private def changes(t: TestTable): Vector[(Long, String, String)] = {
    val metadata = t.table.metadata
    val range = SnapshotRange.of(metadata, metadata.currentSnapshot, None, RangeStart.Oldest, RangeEnd.Newest)
    val scan =
      ChangelogScan(t.table.tree(schema), range, AlwaysTrue, _ => true, caseSensitive = true, ManifestCache.Disabled)
    scan.plan().tasks.flatMap { task =>
      task.change.map(c => (c.snapshotId, c.changeType.name, task.file.path.takeRight(9)))
    }
  }

  test("a file that is live only in the parent snapshot is deleted, even if its entry has another snapshot id") {
    val t = new TestTable(schema)
    t.overwrite((Added, 1L, files(0)), (Added, 1L, files(1)))
    t.overwrite((Existing, 1L, files(0)), (Deleted, 1L, files(1)))
    t.overwrite((Existing, 1L, files(0)), (Deleted, 1L, files(1)), (Added, 3L, files(2)))
    t.overwrite((Deleted, 4L, files(0)), (Existing, 3L, files(2)), (Deleted, 2L, files(1)))
    val first = Vector((1L, "INSERT", "a.parquet"), (1L, "INSERT", "b.parquet"))
    val later = Vector((2L, "DELETE", "b.parquet"), (3L, "INSERT", "c.parquet"), (4L, "DELETE", "a.parquet"))
    assert(changes(t) == first ++ later)
    t.metadata = t.metadata.edited(snapshots = t.metadata.snapshots.drop(1))
    assert(changes(t) == later)
  }
}
