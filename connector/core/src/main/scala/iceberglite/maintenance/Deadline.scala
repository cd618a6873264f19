package iceberglite.maintenance

import iceberglite.table.Environment

/**
 * The time after which long-running work does not begin with the files of its next commit.
 *
 * @param endMs the time in milliseconds since the epoch
 */
final class Deadline(endMs: Long, environment: Environment) {
  def hasPassed: Boolean = environment.nowMs() >= endMs
}
