package iceberglite.table

import scala.collection.mutable

import org.scalatest.funsuite.AnyFunSuite

/** Tests the wait times of [[RetryPolicy]]. */
class RetryPolicySuite extends AnyFunSuite {

  /** Returns the waits of a status check that never succeeds. */
  private def waits(properties: (String, String)*): Seq[Long] = {
    val found = mutable.Buffer.empty[Long]
    val environment = Environment.system.copy(nowMs = () => found.sum, sleep = found += _)
    val policy = RetryPolicy.statusChecks(
      properties.map { case (key, value) => s"commit.status-check.$key" -> value }.toMap,
      environment
    )
    while (policy.waitForNext()) assert(found.size < 100)
    found.toVector
  }

  test("the waits of a status check and their sum have the limits of the properties commit.status-check") {
    val limited = waits("num-retries" -> "4", "min-wait-ms" -> "100", "max-wait-ms" -> "300")
    assert(limited.size == 4)
    limited.zip(Seq(100L, 200L, 300L, 300L)).foreach { case (wait, full) => assert(wait >= full / 2 && wait <= full) }
    val total =
      waits("num-retries" -> "50", "min-wait-ms" -> "100", "max-wait-ms" -> "100", "total-timeout-ms" -> "1000")
    assert(total.size > 2 && total.size < 50 && total.sum <= 1000)
  }
}
