package iceberglite.sim

import scala.collection.mutable
import scala.util.Try

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.maintenance.orphan.{FileListing, ListedFile, LocalOrphanSearch, OrphanOptions, OrphanRemoval}
import iceberglite.spec.IcebergError.{
  CommitConflict,
  CommitStateUnknown,
  ConcurrentChange,
  StorageFailed,
  ValidationFailed
}
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.spec.metadata.SnapshotRef
import iceberglite.table.{Action, _}
import iceberglite.table.TestTables.{file, fileOf, liveFiles}
import iceberglite.table.action.{
  DeleteFiles,
  FastAppend,
  OverwriteFiles,
  RemoveFiles,
  RemoveRef,
  ReplacePartitions,
  RowDelta,
  SetRef
}
import iceberglite.spec.property.IsolationLevel
import iceberglite.table.conflict.Isolation
import iceberglite.table.action.ReadRows

/**
 * Tests that data losses and wrong results which users reported for other implementations do not occur in iceberg-lite.
 * Tests that `onEach` defines run with each kind of catalog.
 */
class KnownFailuresSuite extends AnyFunSuite {
  private def onEach(name: String, first: String = "first")(body: FailingTable => Unit): Unit =
    SimulatedCatalog.all.foreach(family =>
      test(s"$name: ${family.name}") {
        val fixture = new FailingTable(family, first = first)
        try body(fixture)
        finally fixture.close()
      }
    )

  onEach("a commit with a lost acknowledgement succeeds, and its files are not deleted (ClickHouse 112081, " +
    "DuckDB-Iceberg 1120, Apache Iceberg 2317)") { f =>
    f.script = Vector(f.swap -> CallFault.ResponseLost)
    assert(liveFiles(f.append("mine")) == Vector("first", "mine"))
    assert(f.script.isEmpty)
    assert(f.livePaths == Vector("first", "mine"))
    assert(f.versions == 3, "the append must be committed once")
  }

  onEach("a commit with a lost acknowledgement succeeds even after later commits (Apache Iceberg 4673)") { f =>
    f.script = Vector(f.swap -> CallFault.ResponseLost)
    f.afterSwap = () => (1 to 3).foreach(i => f.appendByOther(s"later$i"))
    f.append("mine")
    assert(f.livePaths == Vector("first", "later1", "later2", "later3", "mine"))
  }

  for ((what, fault) <- Seq("running out of memory" -> CallFault.OutOfMemory, "a lost reply" -> CallFault.ResponseLost))
    onEach(s"after $what in a commit, an unreachable storage leads to no deletes (Apache Iceberg 2328, 13443)") {
      f =>
        f.script = Vector(f.swap -> fault)
        f.downAfterSwap = true
        val unknown = intercept[CommitStateUnknown](f.append("mine"))
        assert(unknown.getMessage.contains("metadata"), "the message must mention the metadata")
        assert(!f.simulation.trace.exists(_.contains("delete")))
        assert(f.livePaths == Vector("first", "mine"), "the commit must have been applied with all its metadata")
    }

  onEach("a writer that is interrupted while it checks the commit status deletes nothing (Apache Iceberg 3717)") {
    f =>
      f.script = Vector(f.swap -> CallFault.ResponseLost)
      f.downAfterSwap = true
      f.sleep = _ => throw new InterruptedException
      intercept[CommitStateUnknown](f.append("mine"))
      assert(Thread.interrupted(), "the thread must stay interrupted")
      assert(f.livePaths == Vector("first", "mine"))
  }

  onEach("a successful commit that is reported as a conflict does not add its rows twice (Apache Iceberg 2328)") {
    f =>
      f.script = Vector(f.swap -> CallFault.Repeated)
      f.append("mine")
      assert(f.livePaths == Vector("first", "mine"))
      assert(f.versions == 3)
  }

  onEach("a job that is restarted after a commit with unknown outcome can detect that the commit happened") { f =>
    f.script = Vector(f.swap -> CallFault.ResponseLost)
    f.downAfterSwap = true
    val unknown = intercept[CommitStateUnknown](f.append("mine"))
    val current = f.actualTable
    val metadataFiles = current.metadata.metadataLog.map(_.metadataFile) :+ current.metadataLocation
    assert(unknown.metadataFile.exists(metadataFiles.contains))
  }

  test("a version hint that is stale, reset, too high, empty or invalid does not make any commit or read fail " +
    "(ClickHouse 114108, 114194)") {
    Seq("1", "3", "999", "v2.metadata.json", "", "nonsense").foreach { hint =>
      val f = new FailingTable(SimulatedCatalog.Files)
      (1 to 24).foreach(i => f.appendByOther(s"f$i"))
      f.clean.replace(s"${History.Location}/metadata/version-hint.text", hint.getBytes("UTF-8"))
      assert(f.load().metadataLocation.endsWith("/v26.metadata.json"), s"hint '$hint'")
      f.append("mine", f.load())
      assert(f.livePaths.contains("mine") && f.livePaths.size == 26)
    }
  }

  private val shortLog = Map(
    "write.metadata.delete-after-commit.enabled" -> "true",
    "write.metadata.previous-versions-max" -> "1"
  )

  test("a reader finds the newest version even if the hinted version is deleted concurrently (ClickHouse 114108)") {
    val f = new FailingTable(SimulatedCatalog.Files, properties = shortLog)
    f.onCall("exists v", () => (1 to 5).foreach(i => f.appendByOther(s"later$i")))
    assert(f.load().metadataLocation == f.actualTable.metadataLocation)
  }

  test(
    "a commit whose metadata file is already deleted has an unknown outcome, and is not retried (Apache Iceberg 2328)"
  ) {
    val f = new FailingTable(SimulatedCatalog.Files, properties = shortLog)
    f.afterSwap = () => {
      f.commit(f.actualTable, new RemoveRef("b"))
      (1 to 3).foreach(i => f.appendByOther(s"later$i"))
    }
    val setBranch = new SetRef("b", SnapshotRef.Branch(f.table.currentSnapshot.get.snapshotId))
    val unknown = intercept[CommitStateUnknown](f.commit(f.table, setBranch))
    assert(unknown.getMessage.contains("does not go back that far"))
    assert(!f.actualTable.metadata.refs.contains("b"), "the removed branch must not be created again")
  }

  onEach("if a writer dies at any call, all metadata files that the table references can be read " +
    "(Apache XTable 176)") { f =>
    val calls = f.callsOf(f.append("counted"))
    for (step <- 1 to calls; fault <- Seq(CallFault.DiesBefore, CallFault.DiesAfter)) {
      val g = new FailingTable(SimulatedCatalog.all.find(_.name == f.kind).get)
      g.failAt(step, fault)
      Try(g.append("mine"))
      assert(Set(Vector("first"), Vector("first", "mine"))(g.livePaths), s"$fault at step $step")
      g.close()
    }
  }

  onEach("no file is referenced before it is written (Apache XTable 176)") { f =>
    f.append("mine")
    val trace = f.simulation.trace
    val swapped = trace.lastIndexWhere(_.contains(f.swap))
    val metadata = if (f.kind == "files") Vector.empty else Vector(".metadata.json")
    (metadata ++ Vector("-m0.avro", "snap-")).foreach { name =>
      val written = trace.lastIndexWhere(line => line.contains("write ") && line.contains(name))
      assert(written >= 0 && written < swapped, s"$name must be written before the commit becomes visible")
    }
  }

  onEach("a failed commit deletes only the files that it wrote (Apache Polaris 5057)") { f =>
    f.beforeSwap = () => f.appendByOther(s"race${f.versions}")
    intercept[CommitConflict](f.append("mine"))
    assert(f.filesOfWriter.isEmpty, "files must not be left after the last retry")
    f.beforeSwap = () => ()
    f.script = Vector("write snap-" -> CallFault.Refused)
    intercept[StorageFailed](f.append("mine", f.load()))
    assert(f.filesOfWriter.isEmpty, "files must not be left after a failed write")
    val isolation = Some(Isolation(IsolationLevel.Serializable, f.table.metadata.currentSnapshotId))
    val overwrite = new OverwriteFiles(AlwaysTrue, Vector(file("mine")), isolation)
    intercept[ConcurrentChange](f.commit(f.table, overwrite))
    assert(f.filesOfWriter.isEmpty, "files must not be left after a failed validation")
    assert(f.livePaths.head == "first" && f.livePaths.size == 4, "the table must still have the files of other writers")
  }

  test("an overwrite by filter replaces the matching rows and keeps the others (the ClickHouse Spark connector)") {
    def remaining(action: Action): Vector[String] = {
      val f = new FailingTable(SimulatedCatalog.Files, byCategory = true)
      val files = for (c <- Vector("a", "b", "c"); i <- 1 to 2) yield fileOf(c, s"$c$i")
      val table = f.commit(f.load(), new FastAppend(files))
      f.commit(table, action)
      f.livePaths
    }
    val added = Vector(fileOf("a", "new"))
    assert(remaining(new OverwriteFiles(OverwriteWork.inCategory("a"), added)) == Vector("b1", "b2", "c1", "c2", "new"))
    assert(remaining(new DeleteFiles(OverwriteWork.inCategory("a"))) == Vector("b1", "b2", "c1", "c2"))
    assert(remaining(new ReplacePartitions(added)) == Vector("b1", "b2", "c1", "c2", "new"))
    assert(remaining(new RemoveFiles(Set("a1"))) == Vector("a2", "b1", "b2", "c1", "c2"))
  }

  test("merges that read different partitions do not conflict (Apache Iceberg 11795, 14613, 18020)") {
    val f = new FailingTable(SimulatedCatalog.Files, byCategory = true)
    val read = f.commit(f.load(), new FastAppend(Vector(fileOf("a", "a1"), fileOf("b", "b1"))))
    val since = Some(Isolation(IsolationLevel.Serializable, read.metadata.currentSnapshotId))
    def inCategory(category: String): ReadRows = ReadRows(OverwriteWork.inCategory(category))
    f.commit(read, new RowDelta(Vector(fileOf("b", "b2")), Vector.empty, since, inCategory("b")))
    f.commit(read, new RowDelta(Vector(fileOf("a", "a2")), Vector.empty, since, inCategory("a")))
    assert(f.livePaths == Vector("a1", "a2", "b1", "b2"))
    val conflicting = new RowDelta(Vector(fileOf("b", "b3")), Vector.empty, since, inCategory("b"))
    assert(intercept[ConcurrentChange](f.commit(read, conflicting)).getMessage.contains("category = 'b'"))
  }

  onEach("setting a branch fails if another writer has set it concurrently") { f =>
    val id = f.table.currentSnapshot.get.snapshotId
    f.appendByOther("theirs")
    f.commit(f.load(), new SetRef("b", SnapshotRef.Branch(id)))
    intercept[CommitConflict](f.commit(f.table, new SetRef("b", SnapshotRef.Branch(id))))
    assert(f.livePaths == Vector("first", "theirs"))
  }

  /** The path is absolute, because orphan files can be searched for only if all paths in the table are absolute. */
  private val first = s"${History.Location}/data/first.parquet"
  private val everyAge = OrphanOptions(olderThanMs = Long.MaxValue)

  /** Removes orphan files. @return the paths that were deleted */
  private def removeOrphans(
      table: Table,
      options: OrphanOptions = everyAge,
      listing: Table => FileListing = OrphanRemoval.directory(None)
  ): Set[String] = {
    val found = mutable.Set.empty[String]
    new OrphanRemoval(table, listing, new LocalOrphanSearch, options).run { file =>
      if (file.kept.isEmpty) found += file.path
    }
    found.toSet
  }

  /** Writes a file below the table's location. @return its path */
  private def stored(f: FailingTable, name: String): String = {
    val path = s"${History.Location}/data/$name.parquet"
    f.clean.replace(path, Array.emptyByteArray)
    path
  }

  private def listed(files: ListedFile*): Table => FileListing =
    _ => (consume: ListedFile => Unit) => files.foreach(consume)

  test("with a wrong version hint, removing orphan files deletes no file that the newest version needs (ClickHouse " +
    "114108, 114194, 114246)") {
    for (hint <- Seq("1", "999")) {
      val f = new FailingTable(SimulatedCatalog.Files, first = first)
      val live = (1 to 6).map(i => stored(f, s"live$i"))
      live.foreach(f.appendByOther)
      val orphan = stored(f, "orphan")
      f.clean.replace(s"${History.Location}/metadata/version-hint.text", hint.getBytes("UTF-8"))
      val needed = ReachableFiles.of(f.clean, f.actualTable.version).toSet.filter(f.clean.exists)
      assert(live.toSet.subsetOf(needed))
      assert(removeOrphans(f.load()) == Set(orphan), s"hint '$hint'")
      assert(needed.forall(f.clean.exists), s"hint '$hint'")
    }
  }

  test("removing orphan files keeps a file whose path starts with s3a:// in the listing and s3:// in the metadata " +
    "(Apache Iceberg's remove_orphan_files)") {
    val f = new FailingTable(SimulatedCatalog.Files, first = first)
    f.appendByOther("s3://bucket/t/data/a.parquet")
    assert(removeOrphans(f.load(), listing = listed(ListedFile("s3a://bucket/t/data/a.parquet", 0L))).isEmpty)
    val unequal = listed(ListedFile(stored(f, "orphan"), 0L), ListedFile("gs://bucket/t/data/a.parquet", 0L))
    val mismatch = intercept[ValidationFailed](removeOrphans(f.load(), listing = unequal))
    assert(
      mismatch.getMessage.contains("gs://bucket/t/data/a.parquet") && mismatch.getMessage.contains("equal_schemes")
    )
    assert(f.clean.exists(s"${History.Location}/data/orphan.parquet"), "nothing must be deleted before the error")
  }

  onEach(
    "removing orphan files keeps recent files, which a running writer may still commit (Apache Iceberg's " +
      "remove_orphan_files)",
    first
  ) { f =>
    val (old, young) = (stored(f, "old"), stored(f, "young"))
    val hourMs = 3600000L
    val listing = listed(ListedFile(old, 0L), ListedFile(young, 50 * hourMs))
    assert(removeOrphans(f.load(), OrphanOptions(olderThanMs = 49 * hourMs), listing) == Set(old))
    f.append(young, f.load())
    assert(f.livePaths.contains(young) && f.clean.exists(young))
    assert(!removeOrphans(f.load(), listing = listing).contains(young), "a committed file is no orphan at any age")
  }

  onEach(
    "removing orphan files deletes only the metadata files that a dead writer left (Apache Polaris 5057)",
    first
  ) { f =>
    val calls = f.callsOf(f.append(s"${History.Location}/data/counted.parquet"))
    val left = for (step <- 1 to calls; fault <- Seq(CallFault.DiesBefore, CallFault.DiesAfter)) yield {
      val g = new FailingTable(SimulatedCatalog.all.find(_.name == f.kind).get, first = first)
      g.failAt(step, fault)
      Try(g.append(s"${History.Location}/data/mine.parquet"))
      val (before, rows) = (g.simulation.store.paths.toSet, g.livePaths)
      val needed = ReachableFiles.of(g.clean, g.actualTable.version).toSet
      val removed = removeOrphans(g.actualTable)
      assert(g.livePaths == rows && (removed & needed).isEmpty, s"$fault at step $step")
      assert(before -- g.simulation.store.paths == removed)
      assert((g.simulation.store.paths.toSet -- needed).filter(_.endsWith(".avro")).isEmpty, s"$fault at step $step")
      g.close()
      removed
    }
    assert(left.exists(_.exists(_.contains("snap-"))), "at least one writer that dies must leave metadata")
  }
}
