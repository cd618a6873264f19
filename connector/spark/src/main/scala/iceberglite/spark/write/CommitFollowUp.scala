package iceberglite.spark.write

import iceberglite.spark.conf.AutoCompact
import iceberglite.table.{SnapshotTarget, Table}

/**
 * The maintenance that a write requests after its commit.
 *
 * @param to the branch that the write has committed to, or a staged snapshot
 */
final private[iceberglite] case class FollowUpRequest(to: SnapshotTarget, autoCompact: AutoCompact)

/** Maintenance of a table after the commit of a write. It must not fail: the write has already succeeded. */
private[iceberglite] trait CommitFollowUp {

  /** Runs the maintenance in the active session. @param committed the table as the write has committed it */
  def run(committed: Table, request: FollowUpRequest): Unit
}
