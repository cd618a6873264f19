package iceberglite.maintenance

import iceberglite.table.Environment

/**
 * The time at which long-running work stops before its next commit.
 *
 * @param endMs the time in milliseconds since the epoch
 */
final class Deadline(endMs: Long, environment: Environment) {
  def hasPassed: Boolean = environment.nowMs() >= endMs
}
