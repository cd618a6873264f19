package iceberglite.table

import iceberglite.spec.property.TableProperty

/**
 * Limits the number and the time of retries, and waits between them with exponential backoff. Each wait is shortened by
 * a random fraction, so that two writers that conflicted do not retry at the same time.
 *
 * @param retries the maximum number of counted retries after the first attempt
 * @param totalMs the maximum total time in milliseconds. No retry begins if the time since the start, or the sum of all
 *   waits, has reached this time
 */
final class RetryPolicy(retries: Int, minWaitMs: Long, maxWaitMs: Long, totalMs: Long, environment: Environment) {
  private val startedMs = environment.nowMs()
  private var retriesUsed = 0
  private var waitedMs = 0L

  /**
   * Waits before the next retry.
   *
   * @param atLeastMs the minimum wait in milliseconds, which may exceed the maximum wait of the backoff
   * @return false if the limits permit no further retry
   * @throws java.lang.InterruptedException if the thread is interrupted while it waits
   */
  def waitForNext(atLeastMs: Long = 0L): Boolean = retriesUsed < retries && {
    // The shift is limited, so that it cannot overflow. The maximum wait is reached long before this limit.
    val full = math.min(maxWaitMs.toDouble, minWaitMs.toDouble * (1L << math.min(retriesUsed, 30))).toLong
    retriesUsed += 1
    pause(full, atLeastMs)
  }

  /**
   * Waits for the shortest time before a retry that is not counted. Only the total time limits such retries.
   *
   * @return false if the total time has been reached
   */
  def waitUncounted(): Boolean = pause(math.min(minWaitMs, maxWaitMs), atLeastMs = 0L)

  /** @param backoffMs the wait in milliseconds, which is shortened by a random fraction */
  private def pause(backoffMs: Long, atLeastMs: Long): Boolean = {
    val remainingMs = totalMs - math.max(environment.nowMs() - startedMs, waitedMs)
    remainingMs > 0 && {
      val shortenedMs = (backoffMs * (0.5 + environment.randomFraction() / 2)).toLong
      val pauseMs = math.min(remainingMs, math.max(shortenedMs, atLeastMs))
      waitedMs += pauseMs
      environment.sleep(pauseMs)
      true
    }
  }
}

object RetryPolicy {

  /** Returns the policy of the properties `commit.retry.*`. */
  def commits(properties: Map[String, String], environment: Environment): RetryPolicy = new RetryPolicy(
    TableProperty.of(TableProperty.CommitRetries, properties),
    TableProperty.of(TableProperty.CommitMinWait, properties),
    TableProperty.of(TableProperty.CommitMaxWait, properties),
    TableProperty.of(TableProperty.CommitTotalTimeout, properties),
    environment
  )

  /** Returns the policy of the properties `commit.status-check.*`. */
  def statusChecks(properties: Map[String, String], environment: Environment): RetryPolicy = new RetryPolicy(
    TableProperty.of(TableProperty.StatusCheckRetries, properties),
    TableProperty.of(TableProperty.StatusCheckMinWait, properties),
    TableProperty.of(TableProperty.StatusCheckMaxWait, properties),
    TableProperty.of(TableProperty.StatusCheckTotalTimeout, properties),
    environment
  )
}
