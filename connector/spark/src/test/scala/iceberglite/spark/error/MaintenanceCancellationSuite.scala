package iceberglite.spark.error

import java.nio.file.Files
import java.nio.file.attribute.FileTime
import java.time.{Duration, Instant}

import scala.util.Random

import org.apache.spark.sql.SparkSession
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.Sampling

/**
 * Stops each maintenance procedure at different calls to the storage, on the driver and in tasks, in the ways in which
 * programs stop statements. The table must have all files that it references, and the rows from before the procedure or
 * from after its complete run. A second run must succeed.
 */
class MaintenanceCancellationSuite extends AnyFunSuite with MaintenanceFixture {
  private val pointsPerStop = if (Sampling.isFast) 1 else if (Sampling.isOff) 8 else 2
  private val random = new Random(Sampling.seed)

  private def stoppable(c: Case, stop: Stop): Case =
    c.copy(label = s"${c.label}, ${stop.name}")(session => stop.run(session.sparkContext)(c.run(session)))

  /** Waits for the end of all tasks, which may end later than the statement. */
  private def awaitTasks(): Unit = {
    eventually(assert(spark.sparkContext.statusTracker.getExecutorInfos.map(_.numRunningTasks).sum == 0))
    ()
  }

  private def removeOrphans(session: SparkSession, name: String): Unit = {
    val old = FileTime.from(Instant.now.minus(Duration.ofDays(10)))
    below(directoryOf(load(session, name))).filterNot(Files.isDirectory(_)).foreach(Files.setLastModifiedTime(_, old))
    inSession(session)(_.sql(s"CALL faulty.system.remove_orphan_files('db.$name')").collect())
    val table = load(session, name)
    assert(unreferenced(table).isEmpty)
    assertReadable(table)
  }

  /** @return whether the statement failed because it was stopped */
  private def check(
      name: String,
      c: Case,
      stop: Stop,
      call: Int,
      expected: Set[Seq[String]],
      leavesFiles: Boolean
  ): Boolean = {
    val fault = stop.fault(spark.sparkContext)
    val result = attempt(stoppable(c, stop), FaultyFileSystem, fault, call, isCached = random.nextBoolean())
    awaitTasks()
    withClue(s"${c.label}, ${stop.name} at call $call of ${result.calls}, ${result.error}: ") {
      assert(expected(rowsOf(result.session, name)))
      val table = load(result.session, name)
      assertReadable(table)
      if (!leavesFiles) eventually(assert(unreferenced(table).isEmpty))
      if (result.error.isDefined && !result.session.catalog.tableExists("faulty.db.n")) inSession(result.session)(c.run)
      assert(expected(rowsOf(result.session, name)))
      removeOrphans(result.session, name)
    }
    result.error.isDefined
  }

  private def checkAll(name: String, c: Case, leavesFiles: Boolean): Unit = {
    val unchanged =
      attempt(Case("no statement", changes = true)(_ => ()), FaultyFileSystem, Fault.Refused, Int.MaxValue, true)
    val before = rowsOf(unchanged.session, name)
    val normal = attempt(c, FaultyFileSystem, Fault.Refused, Int.MaxValue, isCached = true)
    assert(normal.error.isEmpty && normal.calls > 0)
    val expected = Set(before, rowsOf(normal.session, name))
    val stopped = Stop.all.flatMap { stop =>
      val distance = math.max(1, normal.calls / pointsPerStop)
      val skipped = math.max(0, normal.calls - pointsPerStop)
      Sampling.recordSkipped(skipped, normal.calls, s"points of ${stop.name}, ${c.label}")
      (1 + random.nextInt(distance) to normal.calls by distance).map(check(name, c, stop, _, expected, leavesFiles))
    }
    // A clone and a restore of a small table do not wait for anything that an interrupt would end.
    if (!Seq("clone", "restore").exists(c.label.contains)) assert(stopped.contains(true), "no attempt was stopped")
  }

  for (
    ((name, c), leavesFiles) <-
      MaintenanceStatements.all.map(_ -> false) ++ MaintenanceStatements.leavingFiles.map(_ -> true) :+
        (("d" -> MaintenanceStatements.addFiles) -> false)
  ) test(s"after ${c.label} is stopped, the table is valid, and a second call succeeds", Slow) {
    checkAll(name, c, leavesFiles)
  }
}
