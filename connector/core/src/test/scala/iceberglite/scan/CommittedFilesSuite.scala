package iceberglite.scan

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.io.{ManifestLists, Manifests}
import iceberglite.spec.EntryStatus.{Added, Deleted, Existing}
import iceberglite.spec.Type.LongType
import iceberglite.spec._
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.tree.{ManifestCache, TestTable}

/** What the entries of manifests say of commits. */
class CommittedFilesSuite extends AnyFunSuite {
  private val schema = Schema(0, Vector(NestedField.optional(1, "id", LongType)))
  private val files = Vector("a", "b", "c").map(TestTable.file(_))

  /** A commit with one manifest, whose entries are a status, the id of a snapshot and a file. */
  private def commit(t: TestTable, entries: (EntryStatus, Long, ContentFile)*): Unit = {
    val (id, spec) = (t.metadata.snapshots.size + 1L, t.metadata.spec)
    val rows = entries.map { case (status, snapshotId, file) =>
      ManifestEntry(status, Some(snapshotId), Some(snapshotId).filter(_ => status != Added), Some(snapshotId), file)
    }
    val (list, path) = (s"mem:/t/metadata/list-$id.avro", s"mem:/t/metadata/m-$id.avro")
    val data = ManifestContent.Data
    val manifest = Manifests.write(t.io, path, FormatVersion.V2, data, schema, spec, id, rows.iterator)
    ManifestLists.write(t.io, list, FormatVersion.V2, id, Some(id - 1), id, None, Vector(manifest))
    val (parent, summary) = (Some(id - 1).filter(_ > 0), Map("operation" -> "overwrite"))
    t.setCurrent(Snapshot(id, parent, id, id, Some(list), Vector.empty, summary, Some(0)))
  }

  /** The changes as snapshot, type and file. */
  private def changes(t: TestTable): Vector[(Long, String, String)] = {
    val metadata = t.table.metadata
    val range = SnapshotRange.of(metadata, metadata.currentSnapshot, None, RangeStart.Oldest, RangeEnd.Newest)
    val scan =
      ChangelogScan(t.table, range, schema, AlwaysTrue, _ => true, caseSensitive = true, ManifestCache.Off)
    scan.plan().tasks.flatMap { task =>
      task.change.map(c => (c.snapshotId, c.changeType.name, task.file.path.takeRight(9)))
    }
  }

  test("deleted files are told by the parent where their entries have the id of another snapshot") {
    val t = new TestTable(schema)
    commit(t, (Added, 1L, files(0)), (Added, 1L, files(1)))
    commit(t, (Existing, 1L, files(0)), (Deleted, 1L, files(1)))
    commit(t, (Existing, 1L, files(0)), (Deleted, 1L, files(1)), (Added, 3L, files(2)))
    commit(t, (Deleted, 4L, files(0)), (Existing, 3L, files(2)), (Deleted, 2L, files(1)))
    val first = Vector((1L, "INSERT", "a.parquet"), (1L, "INSERT", "b.parquet"))
    val later = Vector((2L, "DELETE", "b.parquet"), (3L, "INSERT", "c.parquet"), (4L, "DELETE", "a.parquet"))
    assert(changes(t) == first ++ later)
    t.metadata = t.metadata.copy(snapshots = t.metadata.snapshots.drop(1))
    assert(changes(t) == later)
  }
}
