package iceberglite.maintenance

import iceberglite.table.Environment

/**
 * A time limit for work that is divided into several commits. After this time, the work for a further commit is not
 * started, but running work continues.
 *
 * @param endMs the time in milliseconds since the epoch
 */
final class Deadline(endMs: Long, environment: Environment) {
  def hasPassed: Boolean = environment.nowMs() >= endMs
}
