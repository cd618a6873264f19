package iceberglite.spark.write

import iceberglite.spark.conf.AutoCompact
import iceberglite.table.{SnapshotTarget, Table}

/**
 * The maintenance that a write requests after its commit.
 *
 * @param steps the kinds of maintenance, which run in this order
 * @param to the branch that the write has committed to, or a staged snapshot
 */
final private[iceberglite] case class FollowUpRequest(
    steps: Seq[CommitFollowUp],
    to: SnapshotTarget,
    autoCompact: AutoCompact
) {

  /** Runs the maintenance. @param committed the table as the write has committed it */
  def run(committed: Table): Unit = steps.foreach(_.run(committed, this))
}

/**
 * Maintenance of a table after the commit of a write. It must not fail: the write has already succeeded. The catalog
 * passes the maintenance to its tables, and a table to its writes, so that this package does not depend on it.
 */
private[iceberglite] trait CommitFollowUp {

  /** Runs the maintenance in the active session. @param committed the table as the write has committed it */
  def run(committed: Table, request: FollowUpRequest): Unit
}
