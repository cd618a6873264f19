package iceberglite.scan.stream

import java.util.UUID

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.scan.FileScanTask
import iceberglite.scan.stream.StreamContent.{Appends, Changes}
import iceberglite.scan.stream.StreamPosition._
import iceberglite.spec.IcebergError.{NotFound, Unsupported, ValidationFailed}
import iceberglite.spec.expr.Expression.AlwaysFalse
import iceberglite.spec.file.{ContentFile, EntryStatus}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.Type.IntType
import iceberglite.table.{Actions, Table, TestTables}
import iceberglite.table.action.{ExpireOptions, ExpireSnapshots, OverwriteFiles, RewriteFiles, RollbackToSnapshot}
import iceberglite.tree.{ManifestCache, ManifestsOnly, TestTable}
import iceberglite.tree.TestTable.{equalityDeletes, file, nameOf}

/** Tests [[StreamPlanner]], which plans the micro-batches of a stream. */
class StreamPlannerSuite extends AnyFunSuite {
  private val schema = Schema(0, Vector(NestedField.required(1, "id", IntType)))

  private def testTable(properties: (String, String)*): TestTable = new TestTable(schema, properties = properties.toMap)

  private def state(t: TestTable): StreamState = StreamState(t.tree, t.metadata.currentSnapshot)

  private def state(t: Table): StreamState = StreamState(t.tree(), t.currentSnapshot)

  private def planner(content: StreamContent = Appends()): StreamPlanner =
    new StreamPlanner(content, ManifestCache.Disabled)

  private def names(tasks: Vector[FileScanTask]): Vector[String] = tasks.map(t => nameOf(t.file))

  /** Returns the names of the files of each batch, each planned by a new planner from the JSON of the last offset. */
  private def batches(s: StreamState, start: StreamOffset, limit: StreamLimit): Vector[Vector[String]] = {
    val result = Vector.newBuilder[Vector[String]]
    var from = start
    var batch = planner().next(s, from, limit)
    while (batch.nonEmpty) {
      batch.foreach { b =>
        assert(
          names(planner().tasks(s, from, b.to)) == names(b.tasks),
          "a batch that is planned again must have the same files"
        )
        result += names(b.tasks)
        from = StreamOffset.parse(StreamOffset.toJson(b.to))
      }
      batch = planner().next(s, from, limit)
    }
    result.result()
  }

  private val fromEmpty = StreamOffset(Empty)

  test("a stream that begins with an empty table reads the added files of each append, oldest commit first") {
    val t = testTable()
    assert(planner().next(state(t), fromEmpty, StreamLimit.Unlimited).isEmpty)
    t.append(file("a"), file("b"))
    t.append(file("c"))
    assert(batches(state(t), fromEmpty, StreamLimit.Unlimited) == Vector(Vector("a", "b", "c")))
  }

  test("the backlog counts the snapshots after the offset, and a snapshot that was read only in part") {
    val t = testTable()
    t.append(file("a"))
    val first = t.metadata.currentSnapshot.map(_.snapshotId).getOrElse(fail("no snapshot"))
    t.append(file("b"))
    t.append(file("c"))
    val last = t.metadata.currentSnapshot.map(_.snapshotId).getOrElse(fail("no snapshot"))
    def behind(position: StreamPosition): Int = StreamBacklog.after(state(t), StreamOffset(position)).snapshots
    assert(Seq(Empty, InCommit(first, 0), After(first), After(last)).map(behind) == Seq(3, 3, 2, 0))
    assert(behind(After(first + last)) == 3, "an offset that the branch does not contain")
    t.append(file("d"), file("e"), file("f"), file("g"))
    val newest = t.metadata.currentSnapshot.map(_.snapshotId).getOrElse(fail("no snapshot"))
    def files(position: StreamPosition): Long = StreamBacklog.after(state(t), StreamOffset(position)).files
    val positions = Seq(Empty, InCommit(newest, 0), InCommit(newest, 3), InSnapshot(newest, 0), InSnapshot(newest, 6))
    // The summaries lack the totals of the snapshots, so the first snapshot is counted like another commit.
    assert(positions.map(files) == Seq(7, 4, 1, 4, 0))
  }

  test("the limits of files, rows and bytes divide commits into batches, and each batch contains at least one file") {
    val t = testTable("commit.manifest.min-count-to-merge" -> "2")
    t.append(file("a"), file("b"), file("c"))
    t.append(file("d"))
    t.append(file("e", records = 100), file("f"))
    def read(limit: StreamLimit): Vector[String] = batches(state(t), fromEmpty, limit).map(_.mkString)
    assert(read(StreamLimit(files = Some(2))) == Vector("ab", "cd", "ef"))
    assert(read(StreamLimit(files = Some(1))) == Vector("a", "b", "c", "d", "e", "f"))
    assert(read(StreamLimit(rows = Some(11))) == Vector("ab", "cd", "e", "f"))
    assert(read(StreamLimit(bytes = Some(2500))) == Vector("abc", "def"))
    assert(read(StreamLimit(files = Some(5), rows = Some(30))) == Vector("abc", "de", "f"))
  }

  test(
    "the first snapshot is read completely with its deletes, and then the later commits, all in batches",
    ManifestsOnly
  ) {
    val t = testTable("commit.manifest-merge.enabled" -> "false")
    t.append(file("a"), file("b"))
    t.append(file("c"))
    t.append(equalityDeletes("e"))
    val first = StreamStart.Current.offset(state(t), Appends())
    t.append(file("d"))
    assert(first.position == InSnapshot(3, 0))
    val read = batches(state(t), first, StreamLimit(files = Some(2)))
    assert(read.map(_.size) == Vector(2, 2) && read.flatten.sorted.mkString == "abcd" && read.last.contains("d"))
    val whole = planner().next(state(t), first, StreamLimit.Unlimited).toVector.flatMap(_.tasks)
    assert(whole.map(task => nameOf(task.file) -> task.deletes.size).toMap == Map(
      "a" -> 1,
      "b" -> 1,
      "c" -> 1,
      "d" -> 0
    ))
  }

  test("the manifests of files that were read in earlier batches are not read again", ManifestsOnly) {
    val t = testTable("commit.manifest-merge.enabled" -> "false")
    (0 until 10).foreach(i => t.append(file(s"f$i")))
    val from = StreamOffset(InSnapshot(10, 8))
    val reads = t.io.reads.get
    assert(planner().next(state(t), from, StreamLimit(files = Some(1))).map(b => names(b.tasks).size).contains(1))
    assert(t.io.reads.get <= reads + 3, "expected: the manifest list, the manifest and the next manifest")
  }

  test("an unchanged table is not read; after a commit, only its manifest list and manifest are read", ManifestsOnly) {
    val t = testTable("commit.manifest-merge.enabled" -> "false")
    (0 until 20).foreach(i => t.append(file(s"f$i")))
    val p = planner()
    val offset = StreamOffset(After(20))
    val reads = t.io.reads.get
    assert((0 until 100).forall(_ => p.next(state(t), offset, StreamLimit.Unlimited).isEmpty))
    assert(t.io.reads.get == reads)
    t.append(file("new"))
    val before = t.io.reads.get
    val batch = p.next(state(t), offset, StreamLimit.Unlimited).get
    assert(names(p.tasks(state(t), offset, batch.to)) == Vector("new"))
    assert(t.io.reads.get == before + 2)
  }

  test("planning a batch of a backlog reads only the commits of this batch", ManifestsOnly) {
    val t = testTable("commit.manifest-merge.enabled" -> "false")
    (0 until 200).foreach(i => t.append(file(s"f$i")))
    val reads = t.io.reads.get
    val batch = planner().next(state(t), fromEmpty, StreamLimit(files = Some(1))).get
    assert(names(batch.tasks) == Vector("f0") && t.io.reads.get - reads <= 2)
  }

  private def added(name: String): ContentFile = TestTables.file(name)

  private def offsetAfter(t: Table): StreamOffset = StreamOffset(After(t.currentSnapshot.get.snapshotId))

  test("compactions are skipped, and the rows of later appends are read") {
    val actions = new Actions(TestTables.unpartitioned())
    val start = offsetAfter(actions.append(added("a"), added("b")))
    val base = actions.table
    actions.commit(new RewriteFiles(
      Vector(added("a"), added("b")),
      Vector(added("ab")),
      base.currentSnapshot.get.snapshotId
    ))
    val compacted = actions.table
    val batch = planner().next(state(compacted), start, StreamLimit.Unlimited).get
    assert(batch.tasks.isEmpty && batch.to.position == offsetAfter(compacted).position)
    val t = actions.append(added("c"))
    assert(planner().next(state(t), start, StreamLimit.Unlimited).get.tasks.map(_.file.path) == Vector("c"))
  }

  test("the rows before a commit that removes rows are read; then an error names the snapshot and the option") {
    val actions = new Actions(TestTables.unpartitioned())
    val start = offsetAfter(actions.append(added("a")))
    actions.append(added("b"))
    val removal = actions.commit(new OverwriteFiles(AlwaysFalse, Vector.empty, removed = Vector(added("a"))))
    val removalId = removal.currentSnapshot.get.snapshotId
    actions.commit(new OverwriteFiles(AlwaysFalse, Vector(added("b2")), removed = Vector(added("b"))))
    val t = actions.append(added("c"))
    val before = planner().next(state(t), start, StreamLimit.Unlimited).get
    assert(before.tasks.map(_.file.path) == Vector("b"))
    val error = intercept[Unsupported](planner().next(state(t), before.to, StreamLimit.Unlimited))
    assert(error.what.contains(s"snapshot $removalId of db.t") && error.what.contains("operation is delete"))
    assert(error.advice.contains("streaming-skip-delete-snapshots=true"))
    val skipping = planner(Appends(skipsDeletes = true))
    val second = intercept[Unsupported](skipping.next(
      state(t),
      before.to.copy(position = After(removalId)),
      StreamLimit.Unlimited
    ))
    assert(second.advice.contains("streaming-skip-overwrite-snapshots=true"))
    val both = planner(Appends(skipsDeletes = true, skipsOverwrites = true))
    assert(both.next(state(t), before.to, StreamLimit.Unlimited).get.tasks.map(_.file.path) == Vector("c"))
    val changes = planner(Changes).next(state(t), before.to, StreamLimit.Unlimited).get
    assert(changes.tasks.map(c => c.change.get.ordinal -> c.file.path).toSet ==
      Set(0 -> "a", 1 -> "b", 1 -> "b2", 2 -> "c") && changes.to.commits == 3)
  }

  test("after a rollback, the error names the snapshot and the newest common snapshot") {
    val actions = new Actions(TestTables.unpartitioned())
    val kept = offsetAfter(actions.append(added("a")))
    val start = offsetAfter(actions.append(added("b")))
    val t = actions.commit(new RollbackToSnapshot(kept.position.snapshotId.get))
    val error = intercept[ValidationFailed](planner().next(state(t), start, StreamLimit.Unlimited))
    assert(error.message.contains(s"up to snapshot ${start.position.snapshotId.get}"))
    assert(error.message.contains(s"stream-from-snapshot-id=${kept.position.snapshotId.get}"))
  }

  test("if unread commits have expired, the error names the oldest snapshot and how to continue") {
    val actions = new Actions(TestTables.unpartitioned())
    val ids = Vector("a", "b", "c", "d").map(name => actions.append(added(name)).currentSnapshot.get.snapshotId)
    val t = actions.commit(new ExpireSnapshots(ExpireOptions(snapshotIds = ids.take(2).toSet)))
    val behind = StreamOffset(After(ids(0)))
    val error = intercept[NotFound](planner().next(state(t), behind, StreamLimit.Unlimited))
    assert(error.name.contains(ids(0).toString) && error.advice.contains(s"is ${ids(2)}"))
    assert(error.advice.contains(s"stream-from-snapshot-id=${ids(1)}"))
    val next = planner().next(state(t), StreamOffset(After(ids(1))), StreamLimit.Unlimited).get
    assert(next.tasks.map(_.file.path) == Vector("c", "d"), "the parent of the oldest snapshot may have expired")
    assert(intercept[NotFound](planner().next(state(t), fromEmpty, StreamLimit.Unlimited)).advice.contains("expired"))
  }

  test("the offset of another table is rejected") {
    val t = new Actions(TestTables.unpartitioned()).append(added("a"))
    val other = offsetAfter(t).copy(table = Some(new UUID(1, 1)))
    val error = intercept[ValidationFailed](planner().next(state(t), other, StreamLimit.Unlimited))
    assert(error.message.contains(s"has read a table with the UUID ${new UUID(1, 1)}"))
    assert(t.metadata.uuid.exists(uuid => error.message.contains(s"${t.name} has the UUID $uuid")), error.message)
  }

  test("a stream begins with the requested snapshot, time or commit") {
    val t = testTable()
    def position(start: StreamStart, content: StreamContent = Appends()): StreamPosition =
      start.offset(state(t), content).position
    val starts = Seq(StreamStart.Oldest, StreamStart.Current, StreamStart.Now, StreamStart.AtTime(5))
    assert(starts.forall(position(_) == Empty))
    (1 to 3).foreach(i => t.append(file(s"f$i"))) // committed at 1000, 2000 and 3000 ms
    assert(position(StreamStart.Oldest) == InSnapshot(1, 0))
    assert(position(StreamStart.Oldest, Changes) == InCommit(1, 0))
    assert(position(StreamStart.Current) == InSnapshot(3, 0))
    assert(position(StreamStart.Now) == After(3))
    assert(position(StreamStart.AfterSnapshot(2)) == After(2))
    assert(position(StreamStart.AtTime(2000)) == InCommit(2, 0))
    assert(position(StreamStart.AtTime(2001)) == InCommit(3, 0))
    assert(position(StreamStart.AtTime(3001)) == After(3))
    assert(intercept[NotFound](position(StreamStart.AfterSnapshot(77))).name.contains("77"))
  }

  test("a position of Apache Iceberg counts the files of a manifest before the files of the next manifest") {
    val t = testTable()
    t.append(file("a"))
    val (id, old, nw) = (2L, 1L, EntryStatus.Added)
    t.overwrite((EntryStatus.Existing, old, file("a")), (nw, id, file("b")), (nw, id, file("c")))
    val files = Appends(skipsOverwrites = false)
    val appended =
      t.metadata.currentSnapshot.get.copy(summary = Map("operation" -> "append", "added-data-files" -> "2"))
    val s = StreamState(t.tree, Some(appended))
    def rest(position: Long): Vector[String] =
      new StreamFiles(s, files, ManifestCache.Disabled).restOfForeign(appended, position).collect {
        case step: StreamStep.Files => names(step.tasks)
      }.flatten.toVector
    assert(rest(1) == Vector("c") && rest(2) == Vector.empty && rest(3) == Vector.empty)
  }
}
