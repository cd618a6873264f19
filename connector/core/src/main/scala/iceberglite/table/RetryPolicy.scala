package iceberglite.table

import iceberglite.spec.TableProperty

/**
 * How often something is tried again, with waits that double, and are shortened at random lest two that met meet again.
 *
 * @param retries how many times after the first
 * @param totalMs no retry begins later than this after the start, or after so much waiting
 */
final class RetryPolicy(retries: Int, minWaitMs: Long, maxWaitMs: Long, totalMs: Long, environment: Environment) {
  private val startedMs = environment.nowMs()
  private var used = 0
  private var waitedMs = 0L

  /** Waits for the next try. @return false where there is none any more */
  def waitForNext(): Boolean = {
    val left = totalMs - math.max(environment.nowMs() - startedMs, waitedMs)
    if (used >= retries || left <= 0) false
    else {
      // Shifting by more than 30 would overflow for sensible waits; the upper limit is reached long before.
      val full = math.min(maxWaitMs, minWaitMs.toDouble * (1L << math.min(used, 30))).toLong
      used += 1
      val pause = math.min(left, (full * (0.5 + environment.randomFraction() / 2)).toLong)
      waitedMs += pause
      environment.sleep(pause)
      true
    }
  }
}

object RetryPolicy {

  /** By `commit.retry.*`. */
  def commits(properties: Map[String, String], environment: Environment): RetryPolicy = new RetryPolicy(
    TableProperty.of(TableProperty.CommitRetries, properties),
    TableProperty.of(TableProperty.CommitMinWait, properties),
    TableProperty.of(TableProperty.CommitMaxWait, properties),
    TableProperty.of(TableProperty.CommitTotalTimeout, properties),
    environment
  )

  /** By `commit.status-check.*`. */
  def statusChecks(properties: Map[String, String], environment: Environment): RetryPolicy = new RetryPolicy(
    TableProperty.of(TableProperty.StatusCheckRetries, properties),
    TableProperty.of(TableProperty.StatusCheckMinWait, properties),
    TableProperty.of(TableProperty.StatusCheckMaxWait, properties),
    TableProperty.of(TableProperty.StatusCheckTotalTimeout, properties),
    environment
  )
}
