package iceberglite.spark.write

import iceberglite.spark.conf.AutoCompact
import iceberglite.table.{SnapshotTarget, Table}

/**
 * The table maintenance that a write requests after its commit.
 *
 * @param steps the kinds of maintenance, in the order in which they run
 * @param to the branch that the write has committed to; or a staged snapshot
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
 * Maintenance of a table after the commit of a write. It must not fail, because the write has already succeeded. The
 * catalog passes implementations of this trait to its tables, and a table passes them to its writes, so that this
 * package does not depend on the implementations.
 */
private[iceberglite] trait CommitFollowUp {

  /** Runs the maintenance in the active session. @param committed the table as the write has committed it */
  def run(committed: Table, request: FollowUpRequest): Unit
}
