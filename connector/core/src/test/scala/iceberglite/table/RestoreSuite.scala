package iceberglite.table

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.FormatVersion.{V2, V3}
import iceberglite.spec.IcebergError.{CommitConflict, InvalidArgument, NotFound, UnreadableFile}
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.spec.metadata.Snapshot
import iceberglite.spec.metadata.SnapshotRef.{Branch, Tag}
import iceberglite.table.Actions._
import iceberglite.table.TestTables._
import iceberglite.table.action.{
  DeleteFiles,
  FastAppend,
  FileTotals,
  MergeAppend,
  Restore,
  RestorePoint,
  RestoreReport,
  RewriteManifests,
  RowDelta,
  SetRef,
  SnapshotComparison,
  SnapshotDifference
}
import iceberglite.tree.{ManifestCache, SeenParts, TreeReader}

/** Tests the action that restores an earlier snapshot of a table, and the counts that it returns. */
class RestoreSuite extends AnyFunSuite {
  private def id(table: Table): Long = table.currentSnapshot.get.snapshotId

  private def restore(t: Actions, point: RestorePoint): (Table, RestoreReport) = {
    val action = new Restore(point)
    val table = t.commit(action)
    (table, action.report)
  }

  private def totals(dataFiles: Long, records: Long, deleteFiles: Long = 0): FileTotals =
    FileTotals(dataFiles, records, deleteFiles)

  test("a snapshot, branch, tag, version or time is restored, and the report compares the files before and after") {
    val t = tableByCategory(V2)
    val first = id(t.append(fileOf("a", "a1", records = 3), fileOf("a", "a2", records = 4)))
    t.commit(new SetRef("v1", Tag(first)), new SetRef("b", Branch(first)))
    val deleted = t.commit(new DeleteFiles(category("a")))
    val last = id(t.append(fileOf("b", "b1", records = 10)))
    val firstTime = t.table.metadata.snapshot(first).timestampMs
    val points = Seq(
      RestorePoint.AtSnapshot(first),
      RestorePoint.AtRef("v1"),
      RestorePoint.AtRef("b"),
      RestorePoint.AtVersion("v1"),
      RestorePoint.AtVersion(first.toString)
    )
    for (point <- points) {
      val (table, report) = restore(t, point)
      val difference = SnapshotDifference(added = totals(2, 7), removed = totals(1, 10))
      assert(report == RestoreReport(Some(last), first, Some(difference)), point)
      assert(id(table) == first && liveFiles(table) == Vector("a1", "a2"), point)
      val (_, back) = restore(t, RestorePoint.AtSnapshot(last))
      assert(back.difference.contains(SnapshotDifference(totals(1, 10), totals(2, 7))), point)
    }
    val time = math.max(firstTime, deleted.currentSnapshot.get.timestampMs - 1)
    // Several snapshots may have the same time.
    val current = t.table.metadata.snapshotLog.filter(_.timestampMs <= time).last.snapshotId
    val atTime = new Restore(RestorePoint.AtTime(time))
    t.commit(atTime)
    assert(atTime.report.currentSnapshotId == current)
  }

  test("the report counts removed deletion vectors, and does not count files that only moved to other manifests") {
    val t = unpartitionedTable(V3)
    val (a, b) = (file("a", records = 5), file("b", records = 6))
    val first = id(t.append(a, b))
    t.commit(new RowDelta(t.vectors("mem://t/v.puffin", a -> Seq(1L), b -> Seq(2L, 3L))))
    t.append(file("c"))
    val rewritten = id(t.commit(new RewriteManifests(None, Vector.empty)))
    val (_, report) = restore(t, RestorePoint.AtSnapshot(first))
    assert(report == RestoreReport(
      Some(rewritten),
      first,
      Some(SnapshotDifference(added = FileTotals.Zero, removed = totals(1, 10, deleteFiles = 2)))
    ))
  }

  test("the result of a comparison does not depend on how many files are compared at a time") {
    val t = unpartitionedTable(V2)
    val before = t.append((0 until 20).map(i => file(s"f$i")): _*).currentSnapshot
    t.commit(new DeleteFiles(AlwaysTrue))
    val after = t.append((10 until 30).map(i => file(s"f$i")): _*).currentSnapshot.get
    val results = Seq(1, 7, 1000).map { maxFiles =>
      new SnapshotComparison(t.table.tree(), maxFiles).compare(before, after)
    }
    assert(results.distinct == Seq(SnapshotDifference(totals(10, 100), totals(10, 100))))
  }

  test("restoring the current snapshot commits nothing") {
    val t = unpartitionedTable(V2)
    val table = t.append(file("a"))
    val commits = t.committer.commits
    val (after, report) = restore(t, RestorePoint.AtRef("main"))
    assert(t.committer.commits == commits && after.metadataLocation == table.metadataLocation)
    assert(report.difference.contains(SnapshotDifference(FileTotals.Zero, FileTotals.Zero)))
  }

  test("a table without a current snapshot is restored to a branch") {
    val t = unpartitionedTable(V2)
    val branch = t.commit(new FastAppend(Vector(file("a")), SnapshotTarget.Branch("b", create = true)))
    val staged = branch.metadata.refs("b").snapshotId
    val (_, report) = restore(t, RestorePoint.AtRef("b"))
    assert(report == RestoreReport(
      None,
      staged,
      Some(SnapshotDifference(added = totals(1, 10), removed = FileTotals.Zero))
    ))
  }

  test("if another commit comes first, the restore is retried, and the report includes that commit") {
    val t = unpartitionedTable(V2)
    val first = id(t.append(file("a")))
    val read = t.append(file("b"))
    val last = id(t.append(file("c", records = 7)))
    val action = new Restore(RestorePoint.AtSnapshot(first))
    val table = t.commitOn(read, action)
    assert(id(table) == first && action.report == RestoreReport(
      Some(last),
      first,
      Some(SnapshotDifference(FileTotals.Zero, removed = totals(2, 17)))
    ))
    t.committer.script = Vector.fill(100)(ScriptedCommitter.Answer(happens = false, CommitConflict("t", "by the test")))
    intercept[CommitConflict](t.commit(new Restore(RestorePoint.AtSnapshot(last))))
    t.committer.script = Vector.empty
    assert(id(t.table) == first)
  }

  test("the error for a missing snapshot, branch or tag lists existing ones") {
    val t = unpartitionedTable(V2)
    def message(point: RestorePoint): String = intercept[NotFound](restore(t, point)).getMessage
    assert(message(RestorePoint.AtSnapshot(7)).contains("has no snapshots"))
    assert(message(RestorePoint.AtRef("x")).contains("has no branches and tags"))
    val ids = (0 until 5).map(i => id(t.append(file(s"f$i"))))
    t.commit(new SetRef("weekly", Tag(ids.head)))
    val near = ids(1).toString.updated(3, if (ids(1).toString.charAt(3) == '9') '8' else '9').toLong
    assert(message(RestorePoint.AtSnapshot(near)).contains(s"Did you mean ${ids(1)}?"))
    val other = message(RestorePoint.AtVersion("7"))
    assert(other.contains("Snapshot not found: 7") && other.contains("The newest of 5 snapshots"))
    assert(ids.drop(2).forall(i => other.contains(i.toString)) && !other.contains(ids(1).toString))
    for (point <- Seq(RestorePoint.AtVersion("weekli"), RestorePoint.AtRef("weekli"))) {
      val text = message(point)
      assert(text.contains("Did you mean weekly?") && text.contains("branch main, tag weekly"))
    }
    val early = intercept[InvalidArgument](restore(t, RestorePoint.AtTime(1000)))
    assert(early.getMessage.contains("history starts at"))
    assert(id(t.table) == ids.last)
  }

  private def loseTree(t: Actions, snapshot: Snapshot): Unit = {
    val tree = new TreeReader(t.store, t.table.metadata)
    tree.files(snapshot).reachable(new SeenParts).metadata.foreach(t.store.delete)
    ManifestCache.of(t.store).invalidate(t.store, "mem://t")
  }

  test("a snapshot with lost manifests cannot be restored; it can be replaced, and the report then has no counts") {
    val t = unpartitionedTable(V2, "commit.manifest-merge.enabled" -> "false")
    val first = t.append(file("a")).currentSnapshot.get
    t.commit(new DeleteFiles(AlwaysTrue))
    val second = t.commit(new MergeAppend(Vector(file("b")))).currentSnapshot.get
    loseTree(t, second)
    val (table, report) = restore(t, RestorePoint.AtSnapshot(first.snapshotId))
    assert(id(table) == first.snapshotId && report.difference.isEmpty)
    assert(report.previousSnapshotId.contains(second.snapshotId))
    intercept[UnreadableFile](restore(t, RestorePoint.AtSnapshot(second.snapshotId)))
    assert(id(t.table) == first.snapshotId)
  }
}
