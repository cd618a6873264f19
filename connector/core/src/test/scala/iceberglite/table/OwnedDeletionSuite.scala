package iceberglite.table

import java.util.concurrent.{CyclicBarrier, TimeUnit}
import java.util.concurrent.atomic.AtomicInteger

import scala.collection.mutable

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.catalog.FileIOWrapper
import iceberglite.spec.FormatVersion
import iceberglite.spec.IcebergError.StorageFailed
import iceberglite.storage.{FileIO, FileInfo, StoragePath}

/** Tests how many files are deleted at the same time, and how failed deletions are repeated. */
class OwnedDeletionSuite extends AnyFunSuite {
  private val paths = (1 to 12).map(i => s"mem://t/data/$i.parquet").toVector

  private def filled: Actions = {
    val actions = Actions.unpartitionedTable(FormatVersion.V2)
    paths.foreach(actions.store.replace(_, Array.emptyByteArray))
    actions
  }

  private def deletion(actions: Actions, io: FileIO, width: Int, sleep: Long => Unit = _ => ()): OwnedDeletion = {
    val table = actions.table
    val owned = OwnedPaths.of(table.io, table.version, table.committer.ownership(table.id, table.version))
    new OwnedDeletion(io, owned, width, TestTables.environment.copy(sleep = sleep, randomFraction = () => 0.0))
  }

  /** Blocks each deletion until `width` deletions have begun, and records the maximum number of running deletions. */
  final private class Counting(inner: FileIO, width: Int) extends FileIOWrapper(inner) {
    private val running = new AtomicInteger
    private val barrier = new CyclicBarrier(width)
    val most = new AtomicInteger

    override def delete(path: String): Unit = {
      most.accumulateAndGet(running.incrementAndGet(), math.max)
      barrier.await(30, TimeUnit.SECONDS)
      super.delete(path)
      running.decrementAndGet()
      ()
    }
  }

  test("as many files are deleted at the same time as requested, and not more") {
    for (width <- Seq(1, 2, 4)) {
      val actions = filled
      val io = new Counting(actions.store, width)
      assert(deletion(actions, io, width)(paths).deleted == paths.size && io.most.get == width)
      assert(!paths.exists(actions.store.exists))
    }
  }

  /** Rejects the first `rejected` deletions of each path. */
  final private class Busy(inner: FileIO, rejected: Int) extends FileIOWrapper(inner) {
    private val attempts = mutable.Map.empty[String, Int].withDefaultValue(0)

    override def delete(path: String): Unit = {
      val attempt = attempts.synchronized {
        attempts(path) += 1
        attempts(path)
      }
      if (attempt <= rejected) throw StorageFailed.at("delete", path, "too many requests")
      super.delete(path)
    }
  }

  test("a failed deletion is repeated up to three times, and each wait is longer than the one before") {
    for ((rejected, waits) <- Seq(0 -> Vector.empty, 1 -> Vector(25L), 3 -> Vector(25L, 50L, 100L))) {
      val slept = mutable.Buffer.empty[Long]
      val actions = filled
      assert(deletion(actions, new Busy(actions.store, rejected), 4, slept += _)(paths).deleted == paths.size)
      assert(slept.toVector == waits)
    }
  }

  test("a file that cannot be deleted after all repetitions is reported") {
    val actions = filled
    val report = deletion(actions, new Busy(actions.store, 4), 4)(paths)
    assert(report == DeletionReport(0, Vector(RetainedFiles(KeptReason.NotDeleted, paths.size.toLong, paths.head))))
  }

  test(
    "an interrupt while deletions wait for their next repetition ends the repetitions, and the thread stays interrupted"
  ) {
    val actions = filled
    val busy = new Busy(actions.store, 2)
    var waits = 0
    val interrupt: Long => Unit = { _ =>
      waits += 1
      throw new InterruptedException
    }
    val report = deletion(actions, busy, 4, interrupt)(paths)
    assert(Thread.interrupted(), "the interrupt must still be set")
    assert(report == DeletionReport(0, Vector(RetainedFiles(KeptReason.NotDeleted, paths.size.toLong, paths.head))))
    assert(waits == 1 && paths.forall(actions.store.exists))
  }

  /** Counts the listings. */
  final private class Listed(inner: FileIO) extends FileIOWrapper(inner) {
    val count = new AtomicInteger

    override def list(directory: String): Vector[FileInfo] = {
      count.incrementAndGet()
      super.list(directory)
    }
  }

  private def directory(path: String): StoragePath =
    StoragePath.of(path, "file:///").getOrElse(throw new AssertionError(path))

  test("emptied directories and their parents are listed once and removed if empty; on S3, none is listed") {
    val actions = filled
    val table = actions.table
    val owned = OwnedPaths.of(table.io, table.version, table.committer.ownership(table.id, table.version))
    Seq("p=1", "p=2/q=1", "p=3", "p=4").foreach(name => actions.store.makeDirectory(s"mem://t/data/$name"))
    actions.store.replace("mem://t/data/p=4/foreign.parquet", Array.emptyByteArray)
    val io = new Listed(actions.store)
    val emptied = Vector("p=1", "p=2/q=1", "p=2/q=1", "p=4").map(name => directory(s"mem://t/data/$name"))
    EmptyDirectories.removeEmptied(io, directory("mem://t/data"), owned, emptied :+ directory("mem://other/data"))
    assert(Seq("p=1", "p=2", "p=3", "p=4").map(name => actions.store.exists(s"mem://t/data/$name")) ==
      Seq(false, false, true, true))
    assert(io.count.get == 4)
    EmptyDirectories.removeEmptied(io, directory("s3://b/t"), owned, Vector(directory("s3://b/t/data")))
    assert(io.count.get == 4)
  }
}
