package iceberglite.sim

import iceberglite.spec.metadata.{MetadataLog, TableMetadata}
import iceberglite.spec.property.TableProperty

/**
 * Checks that every version of the table has exactly one predecessor. Also checks that the last assigned ids, the time
 * of the last update and the format version never decrease, that no schema, partition spec, sort order or snapshot
 * disappears, and that the snapshots of references and the parents of new snapshots exist.
 */
object LinearHistory extends Check {
  override def name: String = "the history is linear"

  override def violations(history: CheckedHistory): Vector[String] = {
    val chain = history.chain
    val published = history.finished.catalog.published.filter(_ != chain.versions.map(_.location))
    chain.broken.toVector ++
      published.map(p => s"the catalog pointed to ${p.mkString(", ")}, not to ${chain.versions.map(_.location)}") ++
      chain.steps.flatMap(step => violationsIn(step).map(reason => s"${step.after.location} $reason"))
  }

  private def violationsIn(step: Step): Vector[String] = {
    val (before, after) = (step.before.metadata, step.after.metadata)
    val maxEntries = TableProperty.of(TableProperty.PreviousVersionsMax, after.properties)
    val log = MetadataLog.append(before, step.before.location, maxEntries)
    Vector(
      (after.uuid == before.uuid) -> "has another table UUID",
      (after.metadataLog == log) -> s"has the log ${after.metadataLog}, not $log",
      (after.lastUpdatedMs >= before.lastUpdatedMs) -> "is older than the previous version",
      (after.lastColumnId >= before.lastColumnId) -> "decreases last-column-id",
      (after.lastPartitionId >= before.lastPartitionId) -> "decreases last-partition-id",
      (after.formatVersion >= before.formatVersion) -> "decreases the format version",
      contains(before.schemas, after.schemas) -> "has lost a schema",
      contains(before.specs, after.specs) -> "has lost a partition spec",
      contains(before.sortOrders, after.sortOrders) -> "has lost a sort order",
      refsAreValid(after) -> "has a reference to a snapshot that does not exist",
      snapshotsAreValid(step) -> "has lost a snapshot",
      parentsAreValid(step) -> "has a new snapshot whose parent does not exist"
    ).collect { case (false, reason) => reason }
  }

  private def contains[A](earlier: Vector[A], later: Vector[A]): Boolean = earlier.forall(later.toSet)

  private def refsAreValid(metadata: TableMetadata): Boolean =
    metadata.refs.values.forall(r => metadata.snapshotsById.contains(r.snapshotId)) &&
      metadata.currentSnapshotId == metadata.refs.get("main").map(_.snapshotId)

  private def snapshotsAreValid(step: Step): Boolean =
    contains(step.before.metadata.snapshots, step.after.metadata.snapshots)

  private def parentsAreValid(step: Step): Boolean = step.added.zipWithIndex.forall { case (snapshot, i) =>
    val known = step.before.metadata.snapshotsById.keySet ++ step.added.take(i).map(_.snapshotId)
    snapshot.parentSnapshotId.forall(known)
  }
}
