package iceberglite.sim

import iceberglite.spec.metadata.{MetadataLog, TableMetadata}
import iceberglite.spec.property.TableProperty

/** Every version has exactly one predecessor, and values that only grow never decrease. */
object LinearHistory extends Check {
  override def name: String = "the history is linear"

  override def violations(history: CheckedHistory): Vector[String] = {
    val chain = history.chain
    val published = history.ended.catalog.published.filter(_ != chain.versions.map(_.location))
    chain.broken.toVector ++
      published.map(p => s"the catalog pointed to ${p.mkString(", ")}, not to ${chain.versions.map(_.location)}") ++
      chain.steps.flatMap(step => wrong(step).map(reason => s"${step.after.location} $reason"))
  }

  private def wrong(step: Step): Vector[String] = {
    val (before, after) = (step.before.metadata, step.after.metadata)
    val kept = TableProperty.of(TableProperty.PreviousVersionsMax, after.properties)
    val log = MetadataLog.append(before, step.before.location, kept)
    Vector(
      (after.uuid == before.uuid) -> "is another table",
      (after.metadataLog == log) -> s"has the log ${after.metadataLog}, not $log",
      (after.lastUpdatedMs >= before.lastUpdatedMs) -> "is older than the one before it",
      (after.lastColumnId >= before.lastColumnId) -> "takes column ids back",
      (after.lastPartitionId >= before.lastPartitionId) -> "takes partition field ids back",
      (after.formatVersion >= before.formatVersion) -> "takes the format version back",
      contains(before.schemas, after.schemas) -> "has lost a schema",
      contains(before.specs, after.specs) -> "has lost a partition spec",
      contains(before.sortOrders, after.sortOrders) -> "has lost a sort order",
      refsAreValid(after) -> "has a reference to a snapshot that it has not",
      snapshotsAreValid(step) -> "has lost a snapshot",
      parentsAreValid(step) -> "has a new snapshot that does not follow one that was there"
    ).collect { case (false, reason) => reason }
  }

  private def contains[A](some: Vector[A], all: Vector[A]): Boolean = some.forall(all.toSet)

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
