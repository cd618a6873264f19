package iceberglite.sim

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.catalog.HadoopCatalog
import iceberglite.puffin.{DeletedRows, DeletionVector, DeletionVectorFiles}
import iceberglite.spec.{FormatVersion, IcebergError}
import iceberglite.spec.IcebergError.{AlreadyCommitted, CommitStateUnknown, ConcurrentChange, ValidationFailed}
import iceberglite.spec.file.{Content, ManifestEntry}
import iceberglite.spec.partition.{Bucket, PartitionTuple}
import iceberglite.spec.types.Literal
import iceberglite.spec.property.IsolationLevel
import iceberglite.table.{SnapshotTarget, Table, TestTables}
import iceberglite.table.conflict.Isolation
import iceberglite.table.TestTables.{file, fileOf, liveFiles}
import iceberglite.table.action.{
  CherryPick,
  ExpireOptions,
  ExpireSnapshots,
  FastAppend,
  RecordStreamEpoch,
  RemoveFiles,
  RewriteFiles,
  RewriteManifests,
  RowDelta,
  SetCurrentSnapshot,
  UpdateProperties,
  UpdatePartitionSpec,
  UpgradeVersion
}
import iceberglite.tree.{ManifestCache, TreeReader}

/** Minimal test cases for errors in iceberg-lite that [[SimulationSuite]] has found. */
class FoundFaultsSuite extends AnyFunSuite {
  private def entries(table: Table): Vector[ManifestEntry] = {
    new TreeReader(table.io, table.metadata).live
  }

  private def withTable(byCategory: Boolean, properties: (String, String)*)(body: FailingTable => Unit): Unit = {
    val table = new FailingTable(SimulatedCatalog.Pointers, byCategory, properties.toMap)
    try body(table)
    finally table.close()
  }

  test("a compaction to another partition spec is rejected if keys in the old partition were deleted concurrently") {
    withTable(byCategory = true) { f =>
      val read = f.commit(f.load(), new FastAppend(Vector(fileOf("a", "a1"))))
      val since = read.metadata.currentSnapshotId.get
      val evolved = f.commit(read, new UpdatePartitionSpec(_.addField(Vector("id"), Bucket(2))))
      val keys = fileOf("a", "keys").copy(content = Content.EqualityDeletes, equalityIds = Vector(1))
      f.commit(evolved, new RowDelta(Vector(keys)))
      val partition = PartitionTuple(Vector(Some(Literal.StringLiteral("a")), Some(Literal.IntLiteral(0))))
      val compacted = fileOf("a", "compacted").copy(specId = evolved.metadata.defaultSpecId, partition = partition)
      val moved = new RewriteFiles(Vector(fileOf("a", "a1")), Vector(compacted), since)
      assert(intercept[ValidationFailed](f.commit(evolved, moved)).getMessage.contains("keys"))
      f.commit(evolved, new RewriteFiles(Vector(fileOf("a", "a1")), Vector(fileOf("a", "stayed")), since))
      assert(f.livePaths == Vector("keys", "stayed"))
    }
  }

  test("a compaction to another partition spec is rejected if keys in the new partition were deleted concurrently") {
    withTable(byCategory = true) { f =>
      val read = f.commit(f.load(), new FastAppend(Vector(fileOf("a", "a1"))))
      val since = read.metadata.currentSnapshotId.get
      val evolved = f.commit(read, new UpdatePartitionSpec(_.addField(Vector("id"), Bucket(2))))
      val partition = PartitionTuple(Vector(Some(Literal.StringLiteral("a")), Some(Literal.IntLiteral(0))))
      def moved(path: String, ids: (Long, Long)) =
        fileOf("a", path, ids = ids).copy(specId = evolved.metadata.defaultSpecId, partition = partition)
      // The deletes do not apply to "a1", which has another partition spec, so they must not delete rows of "a1".
      val keys = moved("keys", (20, 30)).copy(content = Content.EqualityDeletes, equalityIds = Vector(1))
      f.commit(evolved, new RowDelta(Vector(keys)))
      def compaction(path: String, ids: (Long, Long)) =
        new RewriteFiles(Vector(fileOf("a", "a1")), Vector(moved(path, ids)), since)
      val error = intercept[ConcurrentChange](f.commit(evolved, compaction("overlaps", (0, 99)))).getMessage
      assert(error.contains("keys") && f.livePaths == Vector("a1", "keys"))
      f.commit(evolved, compaction("other ids", (40, 99)))
      assert(f.livePaths == Vector("keys", "other ids"))
    }
  }

  test("a retry does not reuse manifests that were rewritten before a concurrent commit assigned row ids") {
    withTable(byCategory = false, "commit.manifest-merge.enabled" -> "false") { f =>
      f.appendByOther("second")
      val upgraded = f.commit(f.load(), new UpgradeVersion(FormatVersion.V3))
      f.onCall(f.swap, () => f.appendByOther("third"))
      val rewritten = f.commit(upgraded, new RewriteManifests())
      val before = rewritten.metadata.snapshot(rewritten.currentSnapshot.flatMap(_.parentSnapshotId).get)
      val tree = new TreeReader(rewritten.io, rewritten.metadata, ManifestCache.Disabled)
      def ids(entries: Vector[ManifestEntry]) = entries.map(e => e.file.path -> e.file.firstRowId).toMap
      assert(ids(entries(rewritten)) == ids(tree.entries(before)))
    }
  }

  test("a delayed commit fails if its table was dropped and recreated, even if other clocks are a year ahead") {
    val f = new FailingTable(SimulatedCatalog.Files)
    val year = 365L * 24 * 60 * 60 * 1000
    val future = TestTables.environment.copy(nowMs = () => System.currentTimeMillis + year)
    f.actualTable.transaction(Map.empty, future).add(new UpdateProperties(Map("a" -> "b"))).commit()
    val futureCatalog = new HadoopCatalog("sim", Map.empty, "mem://wh", f.clean, future)
    val base = new Table(History.Id, "t", futureCatalog.load(History.Id), f.clean, futureCatalog)
    base.transaction(Map.empty, future).add(new FastAppend(Vector(file("late")))).commit()
    val delayed = f.load()
    f.onCall(
      f.swap,
      () => {
        futureCatalog.drop(History.Id, purge = false)
        futureCatalog.create(History.Id, TestTables.unpartitioned())
        (1 until delayed.metadata.metadataLog.size + 1).foreach(i => f.appendByOther(s"new$i"))
      }
    )
    intercept[IcebergError](f.append("mine", delayed))
    assert(f.actualTable.metadata.uuid != delayed.metadata.uuid && !f.livePaths.contains("mine"))
    assert(f.livePaths == (1 until delayed.metadata.metadataLog.size + 1).map(i => s"new$i").sorted)
    f.close()
  }

  test("a snapshot is not cherry-picked twice, even if its first cherry-pick was cherry-picked after a rollback") {
    withTable(byCategory = false) { f =>
      val start = f.table.metadata.currentSnapshotId.get
      val staged = f.commit(f.load(), new FastAppend(Vector(file("staged")), SnapshotTarget.Staged))
      val source = staged.metadata.snapshots.last.snapshotId
      f.appendByOther("between")
      val picked = f.commit(f.load(), new CherryPick(source))
      val pick = picked.metadata.currentSnapshotId.get
      val back = f.commit(picked, new SetCurrentSnapshot(start))
      f.commit(back, new FastAppend(Vector(file("other"))))
      val again = f.commit(f.load(), new CherryPick(pick))
      assert(liveFiles(again) == Vector("first", "other", "staged"))
      intercept[ValidationFailed](f.commit(again, new CherryPick(source)))
      assert(f.livePaths == Vector("first", "other", "staged"))
    }
  }

  test("if all data files of a delete were removed concurrently, its delete files are deleted") {
    withTable(byCategory = false, "format-version" -> "3") { f =>
      val rows = DeletedRows("first", 0, PartitionTuple.Empty, DeletionVector.of(1L))
      val deletes = DeletionVectorFiles.write(f.clean, "mem://wh/db/t/data/deletes.puffin", Vector(rows))
      f.commit(f.actualTable, new RemoveFiles(Set("first")))
      val isolation = Some(Isolation(IsolationLevel.Snapshot, f.table.metadata.currentSnapshotId))
      f.commit(f.table, new RowDelta(deletes, Vector.empty, isolation))
      assert(f.livePaths.isEmpty)
      assert(!f.clean.exists("mem://wh/db/t/data/deletes.puffin"))
    }
  }

  test("a cherry-pick that becomes a fast-forward removes the files written for a new snapshot") {
    withTable(byCategory = false) { f =>
      val start = f.table.metadata.currentSnapshotId.get
      val staged = f.commit(f.load(), new FastAppend(Vector(file("staged")), SnapshotTarget.Staged))
      val source = staged.metadata.snapshots.last.snapshotId
      f.appendByOther("between")
      val before = f.simulation.store.paths
      f.onCall(f.swap, () => f.commit(f.actualTable, new SetCurrentSnapshot(start)))
      f.commit(f.load(), new CherryPick(source))
      assert(f.livePaths == Vector("first", "staged"))
      assert((f.simulation.store.paths -- before).forall(_.endsWith(".metadata.json")))
    }
  }

  test("a pointer swap that a proxy repeats is recognized as successful, even after later commits") {
    withTable(byCategory = false) { f =>
      f.script = Vector(f.swap -> CallFault.Repeated)
      f.afterSwap = () => f.appendByOther("later")
      val change = new UpdateProperties(Map("a" -> "b"))
      f.commit(f.table, change)
      assert(f.actualTable.properties.get("a").contains("b"))
      assert(f.actualTable.metadata.metadataLog.map(_.metadataFile).forall(f.clean.exists))
      assert(f.versions == 4, "expected: the table's creation, first, the property change and later")
    }
  }

  test("if the snapshot of a commit that was reported as a conflict may have expired, no file is deleted") {
    withTable(byCategory = false, "write.metadata.previous-versions-max" -> "1") { f =>
      f.script = Vector(f.swap -> CallFault.Repeated)
      f.afterSwap = () => {
        Seq("second", "third").foreach(f.appendByOther)
        val expiration = ExpireOptions(olderThanMs = Some(Long.MaxValue), retainLast = Some(1))
        f.commit(f.actualTable, new ExpireSnapshots(expiration))
      }
      val epoch = new RecordStreamEpoch("query", 0)
      val transaction = f.table.transaction(epoch.summary, TestTables.environment).add(epoch)
      val unknown = intercept[CommitStateUnknown](transaction.add(new FastAppend(Vector(file("mine")))).commit())
      assert(unknown.cause.exists(_.isInstanceOf[AlreadyCommitted]), unknown.cause)
      assert(f.actualTable.metadata.snapshots.size == 1)
      assert(f.livePaths == Vector("first", "mine", "second", "third"))
    }
  }

  test("if a commit that was reported as a conflict and may have expired cannot be retried, no file is deleted") {
    val properties = Seq("write.metadata.previous-versions-max" -> "1", "commit.retry.num-retries" -> "0")
    withTable(byCategory = false, properties: _*) { f =>
      f.script = Vector(f.swap -> CallFault.Repeated)
      f.afterSwap = () => {
        Seq("second", "third").foreach(f.appendByOther)
        f.commit(f.actualTable, new ExpireSnapshots(ExpireOptions(Some(Long.MaxValue), Some(1))))
      }
      intercept[CommitStateUnknown](f.append("mine"))
      assert(f.livePaths == Vector("first", "mine", "second", "third"))
    }
  }

  test(
    "a commit that was reported as a conflict is not repeated if a later snapshot has its expired snapshot as parent"
  ) {
    withTable(byCategory = false, "write.metadata.previous-versions-max" -> "1") { f =>
      f.script = Vector(f.swap -> CallFault.Repeated)
      f.afterSwap = () => {
        f.appendByOther("second")
        f.commit(f.actualTable, new ExpireSnapshots(ExpireOptions(Some(Long.MaxValue), Some(1))))
      }
      f.append("mine")
      assert(f.livePaths == Vector("first", "mine", "second"))
    }
  }

  test("if a commit that was reported as a conflict has certainly failed, the files of the commit are deleted") {
    withTable(byCategory = false, "write.metadata.previous-versions-max" -> "1") { f =>
      val epoch = new RecordStreamEpoch("query", 0)
      def commit(on: Table, path: String): Table = {
        val transaction = on.transaction(epoch.summary, TestTables.environment).add(epoch)
        transaction.add(new FastAppend(Vector(file(path)))).commit()
      }
      f.onCall(
        f.swap,
        () => {
          commit(f.actualTable, "theirs")
          f.appendByOther("second")
          // The snapshot before the attempt expires, but none of the later ones.
          val before = f.table.metadata.currentSnapshotId.toSet
          f.commit(f.actualTable, new ExpireSnapshots(ExpireOptions(snapshotIds = before)))
        }
      )
      intercept[AlreadyCommitted](commit(f.table, "mine"))
      assert(f.livePaths == Vector("first", "second", "theirs") && f.filesOfWriter.isEmpty)
    }
  }

  test("the metadata file of a commit with unknown outcome is deleted if later commits prove that it failed") {
    withTable(byCategory = false) { f =>
      f.beforeSwap = () => {
        f.beforeSwap = () => ()
        f.appendByOther("theirs")
      }
      f.script = Vector(f.swap -> CallFault.OutOfMemory)
      f.append("mine")
      val current = f.actualTable
      assert(f.filesOfWriter.filter(SimulatedStore.isMetadata) == Set(current.metadataLocation))
      assert(f.livePaths == Vector("first", "mine", "theirs"))
    }
  }
}
