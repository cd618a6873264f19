package iceberglite.scan.stream

import java.io.{ByteArrayInputStream, InputStream}
import java.util.concurrent.CountDownLatch

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.catalog.FileIOWrapper
import iceberglite.scan.stream.StreamContent.Appends
import iceberglite.scan.stream.StreamPosition.{After, Empty}
import iceberglite.spec.IcebergError.{Unsupported, ValidationFailed}
import iceberglite.spec.file.EntryStatus
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.Type.IntType
import iceberglite.table.{Actions, Table, TestTables}
import iceberglite.table.action.RollbackToSnapshot
import iceberglite.tree.{CountingMemoryIO, ManifestCache, ManifestsOnly, TestTable}
import iceberglite.tree.TestTable.{file, nameOf}

/** Tests which files a planner reads when it plans several batches, and batches that are planned in advance. */
class StreamPreparationSuite extends AnyFunSuite {
  private val schema = Schema(0, Vector(NestedField.required(1, "id", IntType)))
  private val oneFile = StreamLimit(files = Some(1))
  private val fromEmpty = StreamOffset(Empty)

  private def testTable(): TestTable =
    new TestTable(schema, properties = Map("commit.manifest-merge.enabled" -> "false"))

  private def planner(): StreamPlanner = new StreamPlanner(Appends(), ManifestCache.Disabled)

  private def state(t: TestTable): StreamState = StreamState(t.tree, t.metadata.currentSnapshot)

  private def state(t: Table): StreamState = StreamState(t.tree(), t.currentSnapshot)

  private def names(batch: Option[StreamBatch]): Vector[String] =
    batch.toVector.flatMap(_.tasks).map(task => nameOf(task.file))

  private def readsDuring(t: TestTable)(body: => Unit): Int = {
    val before = t.io.reads.get
    body
    t.io.reads.get - before
  }

  // `ManifestsOnly`: other formats of metadata trees read other numbers of files.
  test("a commit whose files are split over several batches is read once", ManifestsOnly) {
    val t = testTable()
    t.append((0 until 10).map(i => file(s"f$i")): _*)
    val p = planner()
    var batch = p.next(state(t), fromEmpty, oneFile)
    assert(names(batch) == Vector("f0"))
    val reads = readsDuring(t)((1 until 10).foreach { i =>
      batch = p.next(state(t), batch.get.to, oneFile)
      assert(names(batch) == Vector(s"f$i"))
    })
    assert(reads == 0)
    assert(batch.map(_.to.position).contains(After(1)))
  }

  test("commits that were read in advance are not read again, and the batch includes later commits", ManifestsOnly) {
    val t = testTable()
    Seq("a", "b", "c").foreach(name => t.append(file(name)))
    val p = planner()
    val first = p.next(state(t), fromEmpty, oneFile).get
    p.prepare(state(t), first.to, StreamLimit(files = Some(3)))
    assert(
      p.tasks(state(t), fromEmpty, first.to) == first.tasks,
      "the batch that is being processed must still be known"
    )
    p.awaitPreparation()
    t.append(file("d"))
    var second = Option.empty[StreamBatch]
    val reads = readsDuring(t) { second = p.next(state(t), first.to, StreamLimit(files = Some(3))) }
    assert(names(second) == Vector("b", "c", "d"))
    assert(reads == 2, "expected: the manifest list and the manifest of the last commit")
  }

  test("only one batch is read in advance", ManifestsOnly) {
    val t = testTable()
    (0 until 100).foreach(i => t.append(file(s"f$i")))
    val p = planner()
    val first = p.next(state(t), fromEmpty, oneFile).get
    val reads = readsDuring(t) {
      p.prepare(state(t), first.to, oneFile)
      p.awaitPreparation()
    }
    assert(reads <= 4, "the commit of the batch and at most one later commit, each with a manifest list and a manifest")
  }

  test("the preparation of a batch ends when the stream is closed") {
    var read = 0L
    val steps = Iterator.continually[StreamStep] {
      read += 1
      StreamStep.Files(Vector.empty, After(read))
    }
    val cursor = new StreamCursor(Empty, None, steps)
    cursor.prepare(fromEmpty, StreamLimit.Unlimited, () => read >= 3)
    assert(read == 3)
  }

  /** Storage whose reads wait for [[release]] after [[block]]. */
  final private class BlockedReads(files: CountingMemoryIO) extends FileIOWrapper(files) {
    private val (begun, released) = (new CountDownLatch(1), new CountDownLatch(1))
    @volatile private var blocked = false

    override def open(path: String): InputStream = new ByteArrayInputStream(read(path))

    override def read(path: String): Array[Byte] = {
      if (blocked) {
        begun.countDown()
        released.await()
      }
      files.read(path)
    }

    def block(): Unit = blocked = true
    def awaitRead(): Unit = begun.await()
    def release(): Unit = released.countDown()
  }

  test("a planned batch can be read while the next one is prepared, and waiting for the next can be interrupted") {
    val t = testTable()
    Seq("a", "b").foreach(name => t.append(file(name)))
    val storage = new BlockedReads(t.io)
    val known = StreamState(t.tree.copy(io = storage), t.metadata.currentSnapshot)
    val p = planner()
    val first = p.next(known, fromEmpty, oneFile).get
    storage.block()
    try {
      p.prepare(known, first.to, oneFile)
      storage.awaitRead()
      assert(p.tasks(known, fromEmpty, first.to) == first.tasks)
      Thread.currentThread.interrupt()
      intercept[InterruptedException](p.next(known, first.to, oneFile))
    } finally storage.release()
    assert(names(p.next(known, first.to, oneFile)) == Vector("b"))
  }

  test(
    "closing a planner does not wait for its preparation, which ends after the commits that are being read",
    ManifestsOnly
  ) {
    val t = testTable()
    (0 until 100).foreach(i => t.append(file(s"f$i")))
    val storage = new BlockedReads(t.io)
    val known = StreamState(t.tree.copy(io = storage), t.metadata.currentSnapshot)
    val p = planner()
    val first = p.next(known, fromEmpty, oneFile).get
    storage.block()
    val reads = readsDuring(t) {
      try {
        p.prepare(known, first.to, StreamLimit.Unlimited)
        storage.awaitRead()
        p.close()
      } finally storage.release()
      p.awaitPreparation()
    }
    assert(reads <= 4, "at most two commits are read in parallel, each with its manifest list and its manifest")
  }

  test("after a rollback, the commits that were read in advance are not returned") {
    val actions = new Actions(TestTables.unpartitioned())
    def append(name: String): Table = actions.append(TestTables.file(name))
    val ids = Vector("a", "b", "c", "d").map(append(_).currentSnapshot.get.snapshotId)
    val p = planner()
    val first = p.next(state(actions.table), fromEmpty, oneFile).get
    p.prepare(state(actions.table), first.to, StreamLimit(files = Some(3)))
    actions.commit(new RollbackToSnapshot(ids(1)))
    val next = p.next(state(append("e")), first.to, StreamLimit(files = Some(3)))
    assert(next.toVector.flatMap(_.tasks).map(_.file.path) == Vector("b", "e"))
    p.prepare(state(actions.table), next.get.to, oneFile)
    val rolledBack = state(actions.commit(new RollbackToSnapshot(ids(1))))
    assert(intercept[ValidationFailed](p.next(rolledBack, next.get.to, oneFile)).message.contains("rolled back"))
  }

  test("a commit that cannot be read is reported when its batch is planned, not when it is read in advance") {
    val t = testTable()
    t.append(file("a"))
    t.append(file("b"))
    t.overwrite((EntryStatus.Added, 3L, file("c")))
    val p = planner()
    val first = p.next(state(t), fromEmpty, oneFile).get
    p.prepare(state(t), first.to, StreamLimit.Unlimited)
    val second = p.next(state(t), first.to, StreamLimit.Unlimited)
    assert(names(second) == Vector("b"))
    p.prepare(state(t), second.get.to, oneFile)
    (0 until 2).foreach { _ =>
      assert(intercept[Unsupported](p.next(state(t), second.get.to, oneFile)).what.contains("snapshot 3"))
    }
  }

  test("after a failure, the files of the batch are read again") {
    val t = testTable()
    t.append(file("a"))
    t.append(file("b"))
    val p = planner()
    val first = p.next(state(t), fromEmpty, oneFile).get
    val list = t.metadata.currentSnapshot.flatMap(_.manifestList).getOrElse(fail("no manifest list"))
    val content = t.io.read(list)
    t.io.delete(list)
    p.prepare(state(t), first.to, oneFile)
    assert(intercept[Exception](p.next(state(t), first.to, oneFile)).getMessage.contains(list))
    t.io.write(list, content)
    assert(names(p.next(state(t), first.to, oneFile)) == Vector("b"))
  }
}
