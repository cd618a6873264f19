package iceberglite.table

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.catalog.CatalogFixture
import iceberglite.conformance.CommitRules
import iceberglite.spec.FormatVersion.V3
import iceberglite.spec.IcebergError.ConcurrentChange
import iceberglite.spec.expr.Expression
import iceberglite.spec.expr.Expression.{AlwaysTrue, Equal, Not}
import iceberglite.spec.expr.Term.Named
import iceberglite.spec.partition.Identity
import iceberglite.spec.types.Literal.StringLiteral
import iceberglite.table.TestTables._
import iceberglite.table.action.{
  DeleteFiles,
  ExpireOptions,
  ExpireSnapshots,
  FastAppend,
  OverwriteFiles,
  ReplacePartitions,
  RewriteFiles,
  RowDelta,
  UpdatePartitionSpec
}
import iceberglite.spec.property.IsolationLevel
import iceberglite.table.conflict.Isolation
import iceberglite.tree.DefaultVersion

/** Tests the conflicts of overwrites, deletes and partition replacements with concurrent commits. */
class IsolationSuite extends AnyFunSuite {
  private def category(c: String): Expression = Equal(Named("category"), StringLiteral(c))

  private def withTable(body: Table => Unit): Unit = CatalogFixture.Hadoop.withStore { store =>
    val table = CatalogFixture.Hadoop.open(store, store.files).create(CatalogFixture.Id, byCategory())
    body(commit(table, new FastAppend(Vector(fileOf("a", "a1"), fileOf("b", "b1")))))
  }

  private def commit(table: Table, action: Action): Table =
    table.transaction(Map.empty, environment).add(action).commit()

  private def since(table: Table, level: IsolationLevel): Option[Isolation] =
    Some(Isolation(level, table.metadata.currentSnapshotId))

  private def overwriteA(table: Table, level: IsolationLevel): Table =
    commit(table, new OverwriteFiles(category("a"), Vector(fileOf("a", "mine")), since(table, level)))

  test(
    "serializable isolation rejects an overwrite of rows added concurrently, and names the file",
    CommitRules.serializable
  ) {
    withTable { read =>
      commit(read, new FastAppend(Vector(fileOf("a", "theirs"))))
      val error = intercept[ConcurrentChange](overwriteA(read, IsolationLevel.Serializable))
      assert(error.getMessage.contains("added theirs") && error.getMessage.contains("category = 'a'"))
    }
  }

  test("an overwrite that began on an empty branch is rejected if concurrent snapshots have expired") {
    CatalogFixture.Hadoop.withStore { store =>
      val read = CatalogFixture.Hadoop.open(store, store.files).create(CatalogFixture.Id, byCategory())
      val first = commit(read, new FastAppend(Vector(fileOf("a", "theirs"))))
      val second = commit(first, new FastAppend(Vector(fileOf("b", "later"))))
      commit(second, new ExpireSnapshots(ExpireOptions(snapshotIds = first.metadata.currentSnapshotId.toSet)))
      intercept[ConcurrentChange](overwriteA(read, IsolationLevel.Serializable))
    }
  }

  test("snapshot isolation tolerates rows added concurrently", CommitRules.snapshotIsolation) {
    withTable { read =>
      commit(read, new FastAppend(Vector(fileOf("a", "theirs"))))
      assert(liveFiles(overwriteA(read, IsolationLevel.Snapshot)) == Vector("b1", "mine"))
    }
  }

  test("both isolation levels reject an overwrite of rows removed concurrently") {
    IsolationLevel.all.foreach { level =>
      withTable { read =>
        commit(read, new DeleteFiles(category("a")))
        val error = intercept[ConcurrentChange](overwriteA(read, level))
        assert(error.getMessage.contains("removed a1"))
      }
    }
  }

  test("commits to other partitions do not conflict", CommitRules.disjoint) {
    withTable { read =>
      val theirs = commit(read, new FastAppend(Vector(fileOf("b", "theirs"))))
      commit(theirs, new ReplacePartitions(Vector(fileOf("c", "c1"))))
      assert(liveFiles(overwriteA(read, IsolationLevel.Serializable)) == Vector("b1", "c1", "mine", "theirs"))
    }
  }

  test(
    "replacing a partition conflicts with a concurrent append to this partition, and not with one to another partition"
  ) {
    withTable { read =>
      commit(read, new FastAppend(Vector(fileOf("a", "theirs"))))
      val action = new ReplacePartitions(Vector(fileOf("a", "mine")), since(read, IsolationLevel.Serializable))
      intercept[ConcurrentChange](commit(read, action))
      val other = new ReplacePartitions(Vector(fileOf("b", "mine")), since(read, IsolationLevel.Serializable))
      assert(liveFiles(commit(read, other)) == Vector("a1", "mine", "theirs"))
    }
  }

  test("an overwrite without an isolation level removes rows added concurrently") {
    withTable { read =>
      commit(read, new FastAppend(Vector(fileOf("a", "theirs"))))
      val table = commit(read, new OverwriteFiles(category("a"), Vector(fileOf("a", "mine"))))
      assert(liveFiles(table) == Vector("b1", "mine"))
    }
  }

  test("the starting snapshot must be an ancestor of the branch's head") {
    withTable { read =>
      val action = new DeleteFiles(category("a"), Some(Isolation(IsolationLevel.Snapshot, Some(42))))
      assert(intercept[ConcurrentChange](commit(read, action)).getMessage.contains("since snapshot 42"))
    }
  }

  test(
    "a concurrent removal of rows is detected even if their whole manifest was removed",
    CommitRules.snapshotIsolation
  ) {
    val t = Actions.tableByCategory(DefaultVersion.version)
    t.append(fileOf("a", "a1"))
    val read = t.table
    t.commitOn(read, new DeleteFiles(category("a")))
    val mine = new OverwriteFiles(category("a"), Vector(fileOf("a", "mine")), Actions.snapshot(read))
    assert(intercept[ConcurrentChange](t.commitOn(read, mine)).getMessage.contains("removed a1"))
  }

  test("compaction changes no rows, and does not conflict with an overwrite by filter", CommitRules.disjoint) {
    val t = Actions.tableByCategory(DefaultVersion.version)
    t.append(fileOf("a", "a1"))
    val read = t.table
    val id = read.currentSnapshot.get.snapshotId
    t.commitOn(read, new RewriteFiles(Vector(fileOf("a", "a1")), Vector(fileOf("a", "compacted")), id))
    val mine = new OverwriteFiles(category("a"), Vector(fileOf("a", "mine")), Actions.serializable(read))
    assert(liveFiles(t.commitOn(read, mine)) == Vector("mine"))
  }

  test("a compaction to another partition spec conflicts with replacing the old partition", CommitRules.disjoint) {
    val t = Actions.tableByCategory(DefaultVersion.version)
    t.append(fileOf("a", "a1"), fileOf("b", "b1"))
    val evolved = t.commit(new UpdatePartitionSpec(_.removeField("category")))
    val read = t.table
    val id = read.currentSnapshot.get.snapshotId
    val moved = file("compacted").copy(specId = evolved.metadata.defaultSpecId)
    t.commitOn(read, new RewriteFiles(Vector(fileOf("a", "a1")), Vector(moved), id))
    val mine = new ReplacePartitions(Vector(fileOf("a", "mine")), Actions.snapshot(read))
    assert(intercept[ConcurrentChange](t.commitOn(read, mine)).getMessage.contains("from a1 to compacted"))
    val other = new ReplacePartitions(Vector(fileOf("b", "other")), Actions.serializable(read))
    assert(liveFiles(t.commitOn(read, other)) == Vector("compacted", "other"))
  }

  test(
    "a compaction of files of another partition spec conflicts with replacing the partition of the new files",
    CommitRules.disjoint
  ) {
    val t = Actions.tableByCategory(DefaultVersion.version)
    val byCategory = t.table.metadata.defaultSpecId
    t.commit(new UpdatePartitionSpec(_.removeField("category")))
    val unpartitioned = file("old").copy(specId = t.table.metadata.defaultSpecId)
    t.append(unpartitioned)
    t.commit(new UpdatePartitionSpec(_.addField(Vector("category"), Identity)))
    assert(t.table.metadata.defaultSpecId == byCategory)
    val read = t.table
    t.commitOn(
      read,
      new RewriteFiles(Vector(unpartitioned), Vector(fileOf("a", "compacted")), read.currentSnapshot.get.snapshotId)
    )
    val mine = new ReplacePartitions(Vector(fileOf("a", "mine")), Actions.snapshot(read))
    assert(intercept[ConcurrentChange](t.commitOn(read, mine)).getMessage.contains("from old to compacted"))
    val other = new ReplacePartitions(Vector(fileOf("b", "other")), Actions.snapshot(read))
    assert(liveFiles(t.commitOn(read, other)) == Vector("compacted", "other"))
    val unchecked = new ReplacePartitions(Vector(fileOf("a", "unchecked")))
    assert(liveFiles(t.commitOn(read, unchecked)) == Vector("other", "unchecked"))
  }

  test("global equality deletes conflict with replacing a partition", CommitRules.globalDeletes) {
    val t = Actions.tableByCategory(DefaultVersion.version)
    t.append(fileOf("a", "a1"), fileOf("b", "b1"))
    t.commit(new UpdatePartitionSpec(_.removeField("category")))
    val unpartitionedSpecId = t.table.metadata.defaultSpecId
    val read = t.table
    val deletes = Actions.equalityDeletes("theirs", beside = file("x").copy(specId = unpartitionedSpecId), ids = (1, 1))
    t.commitOn(read, new RowDelta(Vector(deletes)))
    val mine = new ReplacePartitions(Vector(fileOf("a", "mine")), Actions.snapshot(read))
    assert(intercept[ConcurrentChange](t.commitOn(read, mine)).getMessage.contains("added the delete file theirs"))
    val table = t.commit(new ReplacePartitions(Vector(fileOf("a", "mine"))))
    assert(liveFiles(table) == Vector("b1", "mine", "theirs"), "the deletes also apply to other partitions")
  }

  test(
    "concurrent deletes in a file conflict with an overwrite by filter only if the file may have matching rows",
    CommitRules.disjoint
  ) {
    val t = Actions.unpartitionedTable(V3)
    val (low, high) = (file("low", ids = (0, 9)), file("high", ids = (10, 19)))
    t.append(low, high)
    val read = t.table
    t.commitOn(read, new RowDelta(t.vectors("theirs.puffin", high -> Seq(1L))))
    val mine = new OverwriteFiles(Actions.idBelow(10), Vector(file("mine", ids = (0, 9))), Actions.serializable(read))
    val other = new OverwriteFiles(AlwaysTrue, Vector(file("all")), Actions.snapshot(read))
    assert(intercept[ConcurrentChange](t.commitOn(read, other)).getMessage.contains("theirs.puffin"))
    t.commitOn(read, mine)
  }

  test(
    "an overwrite at snapshot isolation tolerates an overwrite of other rows, and removes a file appended concurrently",
    CommitRules.disjoint
  ) {
    val t = Actions.unpartitionedTable(DefaultVersion.version)
    t.append(file("low", ids = (0, 9)), file("high", ids = (10, 19)))
    val read = t.table
    t.commitOn(
      read,
      new OverwriteFiles(Actions.idBelow(10), Vector(file("l2", ids = (0, 9))), Actions.serializable(read))
    )
    t.commitOn(read, new FastAppend(Vector(file("far", ids = (100, 109)))))
    val high = new OverwriteFiles(
      Not(Actions.idBelow(10)),
      Vector(file("h2", ids = (10, 19))),
      Actions.since(read, IsolationLevel.Snapshot)
    )
    assert(liveFiles(t.commitOn(read, high)) == Vector("h2", "l2"))
  }

  test("a delete by expression also deletes matching rows added concurrently", CommitRules.deletesReapply) {
    withTable { read =>
      commit(read, new FastAppend(Vector(fileOf("a", "theirs"))))
      assert(liveFiles(commit(read, new DeleteFiles(category("a")))) == Vector("b1"))
    }
  }
}
