package iceberglite.spark.error

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.Sampling

/**
 * Makes calls to the storage fail during maintenance. Whether or not a procedure fails, the table must have all files
 * that it references, and the rows from before the procedure or from after its complete run. Except after an outage and
 * after procedures that may leave files, only those unreferenced files may remain whose deletion failed.
 */
class MaintenanceFaultSuite extends AnyFunSuite with MaintenanceFixture {
  private val callsPerCase = if (Sampling.isFast) 1 else if (Sampling.isOff) Int.MaxValue else 2
  private val random = new Random(Sampling.seed)

  private def check(
      name: String,
      c: Case,
      fault: Fault,
      call: Int,
      expected: Set[Seq[String]],
      leavesFiles: Boolean
  ): Unit = {
    val result = attempt(c, FaultyFileSystem, fault, call, isCached = random.nextBoolean())
    withClue(s"${c.label}, $fault at call $call of ${result.calls}: ") {
      assert(expected(rowsOf(result.session, name)))
      val table = load(result.session, name)
      assertReadable(table)
      // In an outage, the procedure cannot delete its files. Otherwise, only files whose deletion failed may remain,
      // because a deletion is not repeated.
      if (fault != Fault.Outage && !leavesFiles)
        eventually(assert((unreferenced(table) -- FaultyFileSystem.undeleted).isEmpty))
    }
    ()
  }

  private def checkAll(cases: Seq[(String, Case)], leavesFiles: Boolean = false): Unit =
    for ((name, c) <- cases) {
      val unchanged =
        attempt(Case("no statement", changes = true)(_ => ()), FaultyFileSystem, Fault.Refused, Int.MaxValue, true)
      val before = rowsOf(unchanged.session, name)
      val normal = attempt(c, FaultyFileSystem, Fault.Refused, Int.MaxValue, isCached = true)
      assert(normal.error.isEmpty, c.label)
      val after = rowsOf(normal.session, name)
      assert(before.nonEmpty && after.nonEmpty, c.label)
      if (!leavesFiles) assert(unreferenced(load(normal.session, name)).isEmpty, c.label)
      val calls = random.shuffle((1 to normal.calls).toVector)
      Sampling.recordSkipped(math.max(0, calls.size - callsPerCase), calls.size, s"faults of ${c.label}")
      calls.take(callsPerCase).foreach { call =>
        val fault = Fault.ofAnyCall(random.nextInt(Fault.ofAnyCall.size))
        check(name, c, fault, call, Set(before, after), leavesFiles)
      }
    }

  test("if any storage call fails during a random procedure, the table has its rows, and unneeded files are deleted") {
    checkAll(random.shuffle(MaintenanceStatements.all).take(1))
  }

  test(
    "if any storage call fails during maintenance, the table has its rows, and unneeded files are deleted",
    Slow
  ) {
    checkAll(MaintenanceStatements.all)
  }

  test(
    "if any storage call fails while snapshots expire or paths are rewritten, the table has its rows and files",
    Slow
  ) {
    checkAll(MaintenanceStatements.leavingFiles, leavesFiles = true)
  }
}
