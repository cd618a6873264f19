package iceberglite.table

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.catalog.FileIOWrapper
import iceberglite.conformance.CommitRules
import iceberglite.spec.FormatVersion
import iceberglite.spec.IcebergError._
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.spec.metadata.{SnapshotRef, TableMetadata}
import iceberglite.spec.types.Type.{LongType, StringType}
import iceberglite.table.TestTables._
import iceberglite.table.action.{FastAppend, OverwriteFiles, SetRef, UpdateProperties, UpdateSchema, UpgradeVersion}

/** Tests the retries of commits, and how the outcome of a commit is determined after a failure. */
class TransactionSuite extends AnyFunSuite {
  import ScriptedCommitter._

  /** A table with one file, a committer with scripted responses, and a clock that advances only by waiting. */
  final private class Fixture(series: Long, properties: (String, String)*) {
    def this(properties: (String, String)*) = this(0, properties: _*)

    val store = new MemoryFileIO
    val committer = new ScriptedCommitter(store, series)
    var waits = Vector.empty[Long]
    var now = System.currentTimeMillis
    val withFakeClock: Environment = environment.copy(
      nowMs = () => now,
      sleep = ms => {
        waits :+= ms
        now += ms
      }
    )
    private val id = TableIdentifier(Vector("db"), "t")
    val table: Table = {
      val start =
        new TableStart.Creation(unpartitioned(properties: _*), StageMode.Create, "mem://t", java.util.UUID.randomUUID)
      val target = CommitTarget(id, "lite.db.t", store, committer)
      val created = StagedTable.begin(target, start, None, withFakeClock).commit()
      created.transaction(Map.empty, withFakeClock).add(new FastAppend(Vector(file("first")))).commit()
    }

    def append(path: String, on: Table = table): Table =
      transaction(on).add(new FastAppend(Vector(file(path)))).commit()

    def transaction(on: Table = table): Transaction = on.transaction(Map("engine-name" -> "test"), withFakeClock)

    /** Returns the paths of metadata files, lists and manifests that the current metadata does not reference. */
    def orphanFiles: Set[String] = store.paths -- reachable(store, committer.current)
  }

  test("a conflict is retried on the newest version, and both commits are applied") {
    val f = new Fixture
    f.append("other")
    val committed = f.append("mine")
    assert(liveFiles(committed) == Vector("first", "mine", "other"))
    assert(f.waits.size == 1)
    assert(f.orphanFiles.isEmpty, "the first attempt's manifest list must be deleted")
  }

  test("a retry reuses the manifest of the added files", CommitRules.appendsReapply) {
    val f = new Fixture("commit.manifest-merge.enabled" -> "false")
    f.committer.script = Vector(conflict, conflict)
    val before = f.store.paths
    f.append("mine")
    val added = (f.store.paths -- before).filterNot(p => p.endsWith(".json"))
    assert(added.size == 2, s"expected one manifest and one manifest list, but got $added")
    assert(f.orphanFiles.isEmpty)
  }

  test("the wait time doubles with each attempt, with jitter, up to the maximum") {
    val f = new Fixture("commit.retry.min-wait-ms" -> "100", "commit.retry.max-wait-ms" -> "300")
    f.committer.script = Vector.fill(4)(conflict)
    f.append("mine")
    assert(f.waits.size == 4)
    f.waits.zip(Vector(100L, 200L, 300L, 300L)).foreach { case (wait, full) =>
      assert(wait >= full / 2 && wait <= full)
    }
  }

  test("after the last retry the conflict is thrown and no files are left", CommitRules.unknownKept) {
    val f = new Fixture("commit.retry.num-retries" -> "2")
    f.committer.script = Vector.fill(3)(conflict)
    intercept[CommitConflict](f.append("mine"))
    assert(f.committer.script.isEmpty)
    assert(f.orphanFiles.isEmpty)
    assert(liveFiles(f.table.refresh()) == Vector("first"))
  }

  test("the total timeout ends the retries") {
    val f = new Fixture("commit.retry.num-retries" -> "1000", "commit.retry.total-timeout-ms" -> "1000")
    f.committer.script = Vector.fill(1000)(conflict)
    intercept[CommitConflict](f.append("mine"))
    assert(f.waits.size > 2 && f.waits.sum <= 1000 && f.committer.script.nonEmpty)
  }

  /** An action that reports [[Action.madeProgress]] in its first attempts, and not in later attempts. */
  final private class Progressing(attempts: Int) extends MetadataAction {
    private var calls = 0
    override def madeProgress: Boolean = calls <= attempts
    override def changeFor(base: TableMetadata, context: CommitContext): Change = {
      calls += 1
      new UpdateProperties(Map("calls" -> calls.toString)).changeFor(base, context)
    }
  }

  test("an attempt that made progress is retried after the minimum wait, and does not count against num-retries") {
    val f = new Fixture("commit.retry.num-retries" -> "2", "commit.retry.min-wait-ms" -> "100")
    f.committer.script = Vector.fill(12)(conflict)
    val committed = f.transaction().add(new Progressing(10)).commit()
    assert(committed.properties("calls") == "13" && f.waits.size == 12)
    f.waits.zip(Vector.fill(10)(100L) ++ Vector(100L, 200L)).foreach { case (wait, full) =>
      assert(wait >= full / 2 && wait <= full)
    }
  }

  test("after attempts that made progress, num-retries limits the retries of the other attempts") {
    val f = new Fixture("commit.retry.num-retries" -> "2")
    f.committer.script = Vector.fill(13)(conflict)
    intercept[CommitConflict](f.transaction().add(new Progressing(10)).commit())
    assert(f.committer.script.isEmpty)
  }

  test("the total timeout also ends the retries of attempts that made progress") {
    val f = new Fixture("commit.retry.total-timeout-ms" -> "1000")
    f.committer.script = Vector.fill(1000)(conflict)
    intercept[CommitConflict](f.transaction().add(new Progressing(1000)).commit())
    assert(f.waits.size > 2 && f.waits.sum <= 1000 && f.committer.script.nonEmpty)
  }

  test("a successful commit that is reported as a conflict is not applied twice") {
    val f = new Fixture
    f.committer.script = Vector(hiddenSuccess)
    val committed = f.append("mine")
    assert(liveFiles(committed) == Vector("first", "mine"))
    assert(f.committer.commits == 3, "expected: the table's creation, first and mine")
    assert(f.orphanFiles.isEmpty)
  }

  test("a successful commit that is reported as a conflict is found even if no retry is left") {
    val f = new Fixture("commit.retry.num-retries" -> "0")
    f.committer.script = Vector(hiddenSuccess)
    assert(liveFiles(f.append("mine")) == Vector("first", "mine"))
  }

  test("a commit on a base version whose manifest list is deleted succeeds if the table has a newer version") {
    val f = new Fixture
    val newer = f.transaction().add(new OverwriteFiles(AlwaysTrue, Vector(file("second")))).commit()
    val expiredPaths = f.table.currentSnapshot.flatMap(_.manifestList).toVector
    val uncached = new FileIOWrapper(f.store) {
      override def read(path: String): Array[Byte] =
        if (expiredPaths.contains(path)) throw UnreadableFile(path, "file", "It has expired") else f.store.read(path)
    }
    val stale = new Table(f.table.id, f.table.name, f.table.version, uncached, f.committer)
    assert(liveFiles(f.append("mine", stale)) == Vector("mine", "second"))
    assert(newer.metadata.snapshots.size == 2)
  }

  test("a commit with unknown outcome succeeds if the status check shows that it took effect") {
    val f = new Fixture
    f.committer.script = Vector(unknown(happens = true, 2))
    assert(liveFiles(f.append("mine")) == Vector("first", "mine"))
    assert(f.orphanFiles.isEmpty)
  }

  test("the status check finds a commit with unknown outcome even after later commits") {
    val f = new Fixture
    f.committer.script = Vector(unknown(happens = true, 2))
    f.committer.loads = Vector(() => {
      val reloaded = new Table(f.table.id, f.table.name, f.committer.current, f.store, f.committer)
      f.append("later", reloaded)
      ()
    })
    assert(liveFiles(f.append("mine")) == Vector("first", "later", "mine"))
  }

  test("the status check finds a commit without a snapshot by its metadata file") {
    val f = new Fixture
    f.committer.script = Vector(unknown(happens = true, 2))
    val committed = f.transaction().add(new UpdateProperties(Map("a" -> "b"))).commit()
    assert(committed.properties("a") == "b")
  }

  test(
    "a commit whose outcome cannot be determined stays unknown, and its files are kept",
    CommitRules.unknownKept
  ) {
    val f = new Fixture
    f.committer.script = Vector(unknown(happens = false, 2))
    val before = f.store.paths
    val error = intercept[CommitStateUnknown](f.append("mine"))
    assert(error.getMessage.contains(location(2)))
    assert((f.store.paths -- before).size == 2, "manifest and manifest list must be kept")
  }

  test("a commit with unknown outcome is retried if another commit came first") {
    val f = new Fixture
    f.committer.script = Vector(unknown(happens = false, 99))
    f.committer.loads = Vector(() => {
      f.append("other", new Table(f.table.id, f.table.name, f.committer.current, f.store, f.committer))
      ()
    })
    assert(liveFiles(f.append("mine")) == Vector("first", "mine", "other"))
    assert(f.orphanFiles.isEmpty)
  }

  test("the commit status is checked again until another commit shows the outcome", CommitRules.unknownKept) {
    val f = new Fixture
    f.committer.script = Vector(unknown(happens = false, 99))
    f.committer.loads = Vector(
      () => (),
      () => {
        f.transaction().add(new FastAppend(Vector(file("later")))).commit()
        ()
      }
    )
    assert(
      liveFiles(f.append("mine")) == Vector("first", "later", "mine"),
      "another commit came first, so the commit can be retried"
    )
    assert(f.waits.nonEmpty)
  }

  test("a writer that is interrupted during a commit checks the commit status, and stays interrupted") {
    val f = new Fixture
    f.committer.script = Vector(Answer(happens = true, new InterruptedException("by the test")))
    assert(liveFiles(f.append("mine")) == Vector("first", "mine"))
    assert(Thread.interrupted())
    val g = new Fixture
    g.committer.script = Vector(unknown(happens = true, 2))
    Thread.currentThread.interrupt()
    assert(liveFiles(g.append("mine")) == Vector("first", "mine"))
    assert(Thread.interrupted())
  }

  test("a writer that is interrupted before the commit leaves no files, and the exception states it") {
    val f = new Fixture
    val interrupted = new MetadataAction {
      override def changeFor(base: TableMetadata, context: CommitContext): Change =
        throw new InterruptedException("by the test")
    }
    val transaction = f.transaction().add(new FastAppend(Vector(file("mine")))).add(interrupted)
    val error = intercept[InterruptedBeforeCommit](transaction.commit())
    assert(error.getCause.getMessage == "by the test")
    assert(liveFiles(f.table.refresh()) == Vector("first") && f.orphanFiles.isEmpty)
  }

  test("a commit that took effect succeeds even if the writer then runs out of memory") {
    val f = new Fixture
    f.committer.script = Vector(Answer(happens = true, new OutOfMemoryError("by the test")))
    assert(liveFiles(f.append("mine")) == Vector("first", "mine"))
  }

  test(
    "a retry writes its manifest again if the table was upgraded concurrently",
    CommitRules.appendsReapply
  ) {
    val f = new Fixture("format-version" -> "1")
    f.transaction().add(new UpgradeVersion(FormatVersion.V2)).commit()
    val committed = f.append("mine")
    val entries = Actions.live(f.store, committed)
    assert(entries.find(_.file.path == "mine").flatMap(_.sequenceNumber).contains(1L))
    assert(f.orphanFiles.isEmpty)
  }

  test("if the table cannot be loaded, the status check is retried commit.status-check.num-retries times") {
    val f = new Fixture("commit.status-check.num-retries" -> "2")
    f.committer.script = Vector(unknown(happens = true, 2))
    def down(): Unit = throw StorageFailed.at("read", "x", "by the test")
    f.committer.loads = Vector.fill(3)(() => down())
    intercept[CommitStateUnknown](f.append("mine"))
    assert(f.waits.size == 2)
    assert(
      liveFiles(f.table.refresh()) == Vector("first", "mine"),
      "the commit must have been applied, and its files must exist"
    )
  }

  test("if the table cannot be loaded after a conflict, no files are removed") {
    val f = new Fixture
    f.committer.script = Vector(hiddenSuccess)
    def down(): Unit = throw StorageFailed.at("read", "x", "by the test")
    f.committer.loads = Vector(() => down())
    intercept[CommitStateUnknown](f.append("mine"))
    assert(liveFiles(f.table.refresh()) == Vector("first", "mine"))
  }

  test("a writer that is interrupted while waiting stops, stays interrupted and leaves no files") {
    val f = new Fixture
    f.committer.script = Vector(conflict)
    val interruptedSleep = f.withFakeClock.copy(sleep = _ => throw new InterruptedException)
    val transaction = f.table.transaction(Map.empty, interruptedSleep)
    intercept[CommitConflict](transaction.add(new FastAppend(Vector(file("mine")))).commit())
    assert(Thread.interrupted())
    assert(f.orphanFiles.isEmpty)
  }

  test("if a writer runs out of memory and its commit took no effect, the status is unknown and files are kept") {
    val f = new Fixture
    f.committer.script = Vector(Answer(happens = false, new OutOfMemoryError("by the test")))
    val before = f.store.paths
    intercept[CommitStateUnknown](f.append("mine"))
    assert((f.store.paths -- before).size == 2)
  }

  test("an error that is not a conflict is not retried, and the written files are removed") {
    val f = new Fixture
    f.committer.script = Vector(Answer(happens = false, StorageFailed.at("write", "x", "by the test")))
    intercept[StorageFailed](f.append("mine"))
    assert(f.waits.isEmpty)
    assert(f.orphanFiles.isEmpty)
  }

  test("several actions of a transaction are one commit") {
    val f = new Fixture
    val committed = f.transaction()
      .add(new UpdateSchema(_.addColumn(Vector.empty, "extra", StringType, None)))
      .add(new UpdateProperties(Map("a" -> "b")))
      .add(new FastAppend(Vector(file("x"))))
      .add(new FastAppend(Vector(file("y"))))
      .commit()
    assert(f.committer.commits == 3)
    assert(liveFiles(committed) == Vector("first", "x", "y"))
    assert(committed.schema.find("extra").isDefined)
    assert(committed.metadata.snapshots.size == 3)
    assert(committed.currentSnapshot.flatMap(_.schemaId).contains(committed.metadata.currentSchemaId))
  }

  test("several actions of a transaction are retried together") {
    val f = new Fixture
    f.append("other")
    val both = f.transaction().add(new FastAppend(Vector(file("x")))).add(new FastAppend(Vector(file("y"))))
    val committed = both.commit()
    assert(liveFiles(committed) == Vector("first", "other", "x", "y"))
    assert(f.orphanFiles.isEmpty)
  }

  test("a schema change is not applied if another writer changed the columns", CommitRules.schemaNotReapplied) {
    val f = new Fixture
    f.transaction().add(new UpdateSchema(_.addColumn(Vector.empty, "theirs", LongType, None))).commit()
    val error = intercept[CommitConflict] {
      f.transaction().add(new UpdateSchema(_.addColumn(Vector.empty, "mine", LongType, None))).commit()
    }
    assert(error.getMessage.contains("current schema"))
    assert(f.waits.size == 1, "the status must be checked once, and the commit must not be retried")
    assert(f.table.refresh().schema.find("mine").isEmpty)
  }

  test("a schema change is applied to a table with concurrent appends") {
    val f = new Fixture
    f.append("other")
    val committed = f.transaction().add(new UpdateSchema(_.addColumn(Vector.empty, "mine", LongType, None))).commit()
    assert(committed.schema.find("mine").isDefined)
    assert(liveFiles(committed) == Vector("first", "other"))
  }

  test("nothing is committed if nothing changes") {
    val f = new Fixture("a" -> "b")
    val same = f.transaction().add(new UpdateProperties(Map("a" -> "b"))).commit()
    assert(same.metadataLocation == f.table.metadataLocation)
    assert(f.committer.commits == 2)
  }

  test("a commit to a table that was dropped and recreated is rejected because of its new UUID") {
    val f = new Fixture
    val other = new Fixture(series = 1)
    val original = new Table(f.table.id, f.table.name, f.table.version, other.store, other.committer)
    val error = intercept[ValidationFailed](f.append("mine", original))
    assert(error.getMessage.contains("UUID"))
    assert(liveFiles(other.table.refresh()) == Vector("first"))
  }

  test("a tag cannot be written to") {
    val f = new Fixture
    val tag = SnapshotRef.Tag(f.table.currentSnapshot.get.snapshotId)
    val tagged = f.transaction().add(new SetRef("v1", tag)).commit()
    intercept[InvalidArgument] {
      f.transaction(tagged).add(new FastAppend(Vector(file("x")), SnapshotTarget.Branch("v1"))).commit()
    }
  }

  test("an append to a branch does not change main", CommitRules.branches) {
    val f = new Fixture
    val head = f.table.currentSnapshot.get.snapshotId
    val branched = f.transaction().add(new SetRef("b", SnapshotRef.Branch(head))).commit()
    val committed = f.transaction(branched).add(new FastAppend(Vector(file("x")), SnapshotTarget.Branch("b"))).commit()
    assert(committed.metadata.currentSnapshotId.contains(head))
    assert(onBranch(f, committed.metadata, "b") == Vector("first", "x"))
  }

  private def onBranch(f: Fixture, metadata: TableMetadata, branch: String): Vector[String] =
    liveFiles(f.store, metadata, metadata.snapshotOf(branch))
}
