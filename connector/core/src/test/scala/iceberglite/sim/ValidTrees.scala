package iceberglite.sim

import iceberglite.spec.metadata.{Snapshot, TableMetadata}

/**
 * Checks the metadata tree of every snapshot against the rules of its layout. Manifest lists have no such rules; for
 * the trees of version 4, see the table of rules in docs/v4.md.
 */
object ValidTrees extends Check {
  override def name: String = "metadata trees violate no rule of their layout"

  override def violations(history: CheckedHistory): Vector[String] =
    for (step <- history.chain.steps; snapshot <- step.added; v <- violations(history, step.after.metadata, snapshot))
      yield v

  private def violations(history: CheckedHistory, metadata: TableMetadata, snapshot: Snapshot): Vector[String] = {
    val parent = snapshot.parentSnapshotId.map(id => history.reader.files(metadata, metadata.snapshot(id)))
    history.reader.files(metadata, snapshot).violations(parent).getOrElse(Vector.empty)
      .map(v => s"snapshot ${snapshot.snapshotId} violates ${v.rule}: ${v.reason}")
  }
}
