package iceberglite.table

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.conformance.CommitRules
import iceberglite.spec.FormatVersion.{V2, V3}
import iceberglite.spec.IcebergError
import iceberglite.spec.IcebergError.{ConcurrentChange, InvalidArgument, NotFound, ValidationFailed}
import iceberglite.spec.metadata.SnapshotRef
import iceberglite.table.Actions._
import iceberglite.table.SnapshotTarget.{Branch, Staged}
import iceberglite.table.TestTables._
import iceberglite.table.action.{
  CherryPick,
  DeleteFiles,
  FastAppend,
  FastForward,
  MergeAppend,
  OverwriteFiles,
  PublishChanges,
  RemoveFiles,
  ReplacePartitions,
  RollbackToSnapshot,
  RollbackToTimestamp,
  SetCurrentSnapshot,
  SetRef
}

/** Tests actions on branches, staged snapshots, cherry-picks and rollbacks. */
class BranchActionsSuite extends AnyFunSuite {
  private def tableWithTwoFiles: Actions = {
    val t = tableByCategory(V3)
    t.append(fileOf("a", "a1"))
    t.append(fileOf("b", "b1"))
    t
  }

  private def id(table: Table): Long = table.currentSnapshot.get.snapshotId

  private def filesOnBranch(t: Actions, branch: String): Vector[String] =
    liveFiles(t.store, t.table.metadata, t.table.metadata.snapshotOf(branch))

  private def rejection(body: => Any): String = intercept[IcebergError](body) match {
    case error @ (_: ValidationFailed | _: ConcurrentChange) => error.getMessage
    case other => fail(other)
  }

  /** Commits the action as a staged snapshot with the given `wap.id`, and returns the id of the snapshot. */
  private def stage(t: Actions, wapId: String, action: Action): Long = {
    val before = t.table.metadata.snapshotsById.keySet
    t.table.transaction(Map("wap.id" -> wapId), environment).add(action).commit()
    (t.table.metadata.snapshotsById.keySet -- before).head
  }

  test("a staged snapshot is added to the table but to no branch", CommitRules.staged) {
    val t = tableWithTwoFiles
    val before = t.table
    val staged = stage(t, "w1", new FastAppend(Vector(fileOf("c", "c1")), Staged))
    assert(t.table.metadata.refs == before.metadata.refs)
    assert(t.table.metadata.snapshot(staged).parentSnapshotId.contains(id(before)))
    assert(liveFiles(t.store, t.table.metadata, Some(t.table.metadata.snapshot(staged))) == Vector("a1", "b1", "c1"))
  }

  test("a staged snapshot whose parent is the head is published unchanged", CommitRules.staged) {
    val t = tableWithTwoFiles
    val staged = stage(t, "w1", new FastAppend(Vector(fileOf("c", "c1")), Staged))
    assert(id(t.commit(new PublishChanges("w1"))) == staged)
  }

  test(
    "publishing a staged append after other commits applies it to the new head, and records the staged snapshot's id",
    CommitRules.staged
  ) {
    val t = tableWithTwoFiles
    val staged = stage(t, "w1", new MergeAppend(Vector(fileOf("c", "c1")), Staged))
    t.append(fileOf("d", "d1"))
    val table = t.commit(new PublishChanges("w1"))
    assert(liveFiles(table) == Vector("a1", "b1", "c1", "d1"))
    val s = summary(table)
    assert((s("operation"), s("source-snapshot-id"), s("published-wap-id")) == (("append", staged.toString, "w1")))
    assert(s("added-data-files") == "1")
    assert(rejection(t.commit(new CherryPick(staged))).contains("it was already picked as snapshot"))
    assert(rejection(t.commit(new PublishChanges("w1"))).contains("already"))
  }

  test("a WAP id is published only once, and a WAP id of two staged snapshots is ambiguous") {
    val t = tableWithTwoFiles
    stage(t, "w1", new FastAppend(Vector(fileOf("c", "c1")), Staged))
    t.commit(new PublishChanges("w1"))
    val second = stage(t, "w1", new FastAppend(Vector(fileOf("c", "c2")), Staged))
    assert(rejection(t.commit(new PublishChanges("w1"))).contains("Cherry-pick one"))
    t.append(fileOf("d", "d1"))
    assert(rejection(t.commit(new CherryPick(second))).contains("already published the WAP id w1"))
    intercept[NotFound](t.commit(new PublishChanges("w2")))
  }

  test("an ancestor cannot be cherry-picked") {
    val t = tableWithTwoFiles
    val first = t.table.metadata.snapshots.head.snapshotId
    assert(rejection(t.commit(new CherryPick(first))).contains("already an ancestor"))
  }

  test(
    "a staged partition overwrite is cherry-picked after other commits if its partitions have not changed",
    CommitRules.staged
  ) {
    val t = tableWithTwoFiles
    val staged = stage(t, "w", new ReplacePartitions(Vector(fileOf("a", "a2")), to = Staged))
    val other = stage(t, "x", new ReplacePartitions(Vector(fileOf("b", "b2")), to = Staged))
    t.append(fileOf("b", "b3"))
    val table = t.commit(new CherryPick(staged))
    assert(liveFiles(table) == Vector("a2", "b1", "b3") && operation(table) == "overwrite")
    assert(rejection(t.commit(new CherryPick(other))).contains("added b3"))
  }

  test("a staged partition overwrite is not cherry-picked if a file that it replaces was removed") {
    val t = tableWithTwoFiles
    val staged = stage(t, "w", new ReplacePartitions(Vector(fileOf("a", "a2")), to = Staged))
    t.commit(new RemoveFiles(Set("a1")))
    assert(rejection(t.commit(new CherryPick(staged))).contains("a1 is not in the table"))
  }

  test("a staged snapshot that is neither an append nor a partition overwrite can only be fast-forwarded") {
    val t = tableWithTwoFiles
    val staged = stage(t, "w", new DeleteFiles(category("a"), to = Staged))
    assert(id(t.commit(new CherryPick(staged))) == staged)
    val lateDelete = stage(t, "x", new DeleteFiles(category("b"), to = Staged))
    t.append(fileOf("c", "c1"))
    assert(rejection(t.commit(new CherryPick(lateDelete))).contains("neither an append nor a dynamic overwrite"))
  }

  test("a cherry-pick that loses a commit race is retried, and creates a new snapshot instead of a fast-forward") {
    val t = tableWithTwoFiles
    val staged = stage(t, "w", new FastAppend(Vector(fileOf("c", "c1")), Staged))
    val read = t.table
    t.append(fileOf("d", "d1"))
    val table = t.commitOn(read, new CherryPick(staged))
    assert(liveFiles(table) == Vector("a1", "b1", "c1", "d1") && id(table) != staged)
    assert(t.orphanFiles.isEmpty)
  }

  test("a branch is created by the first write to it, from the head of main", CommitRules.branches) {
    val t = tableWithTwoFiles
    intercept[NotFound](t.commit(new FastAppend(Vector(fileOf("c", "c1")), Branch("audit"))))
    t.commit(new FastAppend(Vector(fileOf("c", "c1")), Branch("audit", create = true)))
    assert(filesOnBranch(t, "audit") == Vector("a1", "b1", "c1"))
    assert(liveFiles(t.table) == Vector("a1", "b1"))
    t.commit(new DeleteFiles(category("a"), to = Branch("audit", create = true)))
    assert(filesOnBranch(t, "audit") == Vector("b1", "c1"))
  }

  test("two writers that concurrently create a branch by writing to it both succeed", CommitRules.branches) {
    val t = tableWithTwoFiles
    val read = t.table
    t.commitOn(read, new FastAppend(Vector(fileOf("c", "c1")), Branch("b", create = true)))
    t.commitOn(read, new FastAppend(Vector(fileOf("d", "d1")), Branch("b", create = true)))
    assert(filesOnBranch(t, "b") == Vector("a1", "b1", "c1", "d1"))
  }

  test("a write keeps the retention settings of its branch", CommitRules.branches) {
    val t = tableWithTwoFiles
    t.commit(new SetRef("b", SnapshotRef.Branch(id(t.table), Some(3), Some(1000L), Some(2000L))))
    t.commit(new FastAppend(Vector(fileOf("c", "c1")), Branch("b")))
    val branch = t.table.metadata.refs("b")
    assert(branch == SnapshotRef.Branch(branch.snapshotId, Some(3), Some(1000L), Some(2000L)))
    assert(branch.snapshotId != id(t.table))
  }

  test("writers to different branches do not conflict") {
    val t = tableWithTwoFiles
    t.commit(new SetRef("b", SnapshotRef.Branch(id(t.table))))
    val read = t.table
    t.commitOn(read, new DeleteFiles(category("a"), to = Branch("b")))
    val overwrite = new OverwriteFiles(category("a"), Vector(fileOf("a", "mine")), serializable(read))
    assert(liveFiles(t.commitOn(read, overwrite)) == Vector("b1", "mine"))
  }

  test("a branch can be fast-forwarded to a descendant, but not to any other snapshot", CommitRules.branches) {
    val t = tableWithTwoFiles
    t.commit(new FastAppend(Vector(fileOf("c", "c1")), Branch("audit", create = true)))
    val table = t.commit(new FastForward("main", "audit"))
    assert(liveFiles(table) == Vector("a1", "b1", "c1"))
    t.commit(new FastForward("copy", "audit"))
    assert(filesOnBranch(t, "copy") == Vector("a1", "b1", "c1"))
    t.append(fileOf("d", "d1"))
    t.commit(new FastAppend(Vector(fileOf("e", "e1")), Branch("audit")))
    assert(rejection(t.commit(new FastForward("main", "audit"))).contains("not an ancestor"))
    intercept[NotFound](t.commit(new FastForward("main", "nope")))
    t.commit(new SetRef("v1", SnapshotRef.Tag(id(t.table))))
    intercept[InvalidArgument](t.commit(new FastForward("v1", "audit")))
  }

  test("a fast-forward is rejected if a concurrent commit to the branch would be lost") {
    val t = tableWithTwoFiles
    t.commit(new FastAppend(Vector(fileOf("c", "c1")), Branch("audit", create = true)))
    val read = t.table
    t.append(fileOf("d", "d1"))
    assert(rejection(t.commitOn(read, new FastForward("main", "audit"))).contains("not an ancestor"))
  }

  test("main can be rolled back to an ancestor, and later snapshots are kept", CommitRules.rollback) {
    val t = tableWithTwoFiles
    val first = t.table.metadata.snapshots.head.snapshotId
    val staged = stage(t, "w", new FastAppend(Vector(fileOf("c", "c1")), Staged))
    val second = id(t.table)
    assert(liveFiles(t.commit(new RollbackToSnapshot(first))) == Vector("a1"))
    assert(t.table.metadata.snapshots.size == 3)
    assert(rejection(t.commit(new RollbackToSnapshot(second))).contains("is not an ancestor of the current"))
    assert(rejection(t.commit(new RollbackToSnapshot(staged))).contains("is not an ancestor of the current"))
    intercept[NotFound](t.commit(new RollbackToSnapshot(42)))
    assert(liveFiles(t.commit(new SetCurrentSnapshot(second))) == Vector("a1", "b1"))
  }

  test("another branch can be rolled back, and main does not change", CommitRules.rollback) {
    val t = tableByCategory(V3)
    val first = id(t.append(fileOf("a", "a1")))
    val aSecondLater = environment.copy(nowMs = () => t.table.metadata.lastUpdatedMs + 1000)
    val append = new FastAppend(Vector(fileOf("b", "b1")))
    val second = id(t.table.transaction(Map.empty, aSecondLater).add(append).commit())
    val audit = Branch("audit")
    t.commit(new FastAppend(Vector(fileOf("c", "c1")), audit.copy(create = true)))
    val table = t.commit(new RollbackToSnapshot(first, audit))
    assert(filesOnBranch(t, "audit") == Vector("a1") && id(table) == second)
    assert(rejection(t.commit(new RollbackToSnapshot(second, audit))).contains("the head of the branch audit"))
    intercept[NotFound](t.commit(new RollbackToSnapshot(first, Branch("none"))))
    t.commit(new CherryPick(second, audit))
    t.commit(new RollbackToTimestamp(table.metadata.snapshot(second).timestampMs, audit))
    assert(filesOnBranch(t, "audit") == Vector("a1") && id(t.table) == second)
  }

  test("main can be rolled back to the newest ancestor before a timestamp", CommitRules.rollback) {
    val t = tableByCategory(V2)
    val start = t.table.metadata.lastUpdatedMs
    Seq("a" -> 1000L, "b" -> 2000L, "c" -> 3000L).foreach { case (c, after) =>
      val clock = environment.copy(nowMs = () => start + after)
      t.table.transaction(Map.empty, clock).add(new FastAppend(Vector(fileOf(c, s"${c}1")))).commit()
    }
    assert(
      liveFiles(t.commit(new RollbackToTimestamp(start + 3000L))) == Vector("a1", "b1"),
      "the snapshot at 3000 ms is not before this timestamp"
    )
    assert(liveFiles(t.commit(new RollbackToTimestamp(start + 1001L))) == Vector("a1"))
    intercept[InvalidArgument](t.commit(new RollbackToTimestamp(start + 1000L)))
  }

  test("an append after a rollback has the restored snapshot as parent, and the next unused sequence number") {
    val t = tableWithTwoFiles
    val first = t.table.metadata.snapshots.head.snapshotId
    t.commit(new RollbackToSnapshot(first))
    val table = t.append(fileOf("c", "c1"))
    assert(liveFiles(table) == Vector("a1", "c1"))
    assert(table.currentSnapshot.get.parentSnapshotId.contains(first))
    assert(table.currentSnapshot.get.sequenceNumber == 3)
  }
}
