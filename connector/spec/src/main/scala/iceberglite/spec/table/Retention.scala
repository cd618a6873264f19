package iceberglite.spec.table

import iceberglite.spec.metadata.{Snapshot, SnapshotRef, TableMetadata}
import iceberglite.spec.metadata.SnapshotRef.{Branch, Main, Tag}
import iceberglite.spec.property.TableProperty
import iceberglite.spec.update.MetadataUpdate
import iceberglite.spec.update.MetadataUpdate.{RemoveSnapshotRef, RemoveSnapshots}

/** The result of an expiration of snapshots. */
final case class Expiration(snapshotIds: Set[Long], refs: Set[String]) {
  def isEmpty: Boolean = snapshotIds.isEmpty && refs.isEmpty

  def updates: Vector[MetadataUpdate] =
    refs.toVector.sorted.map(RemoveSnapshotRef) ++ Some(RemoveSnapshots(snapshotIds)).filter(_ => snapshotIds.nonEmpty)
}

/**
 * The retention of the snapshots and references of a table, unless a reference overrides it (spec: "Snapshot Retention
 * Policy").
 *
 * @param olderThanMs snapshots before this time may expire, in milliseconds since 1970
 * @param minSnapshotsToKeep minimum number of snapshots to keep for each branch
 * @param maxRefAgeMs the age at which branches and tags other than main expire, in milliseconds
 */
final case class Retention(olderThanMs: Long, minSnapshotsToKeep: Int, maxRefAgeMs: Long) {

  /**
   * Returns expired snapshots and references, by the specification's steps, except that an unreferenced snapshot is
   * kept until [[olderThanMs]], as in Apache Iceberg: it may be staged for publication.
   */
  def expired(m: TableMetadata, nowMs: Long): Expiration = {
    val refs = m.refs.filter { case (name, ref) => name == Main || isWithinMaxAge(m, ref, nowMs) }
    val heads = refs.values.flatMap(ref => m.snapshotsById.get(ref.snapshotId).map(ref -> _)).toVector
    val retained = heads.flatMap {
      case (branch: Branch, head) => retainedBy(branch, m.ancestors(head), nowMs)
      case (_: Tag, snapshot) => Vector(snapshot.snapshotId)
    }.toSet
    val reachable = heads.flatMap {
      case (_: Branch, head) => m.ancestors(head).map(_.snapshotId)
      case (_: Tag, snapshot) => Iterator(snapshot.snapshotId)
    }.toSet
    val staged = m.snapshots.filter(s => !reachable(s.snapshotId) && s.timestampMs >= olderThanMs).map(_.snapshotId)
    Expiration(
      m.snapshots.map(_.snapshotId).filterNot(retained).toSet -- staged,
      m.refs.keySet -- refs.keySet
    )
  }

  private def isWithinMaxAge(m: TableMetadata, ref: SnapshotRef, nowMs: Long): Boolean =
    m.snapshotsById.get(ref.snapshotId).exists { s =>
      Retention.subtractAge(nowMs, ref.maxRefAgeMs.getOrElse(maxRefAgeMs)) <= s.timestampMs
    }

  /** Returns the ids of the snapshots that a branch retains. The head of the branch is always retained. */
  private def retainedBy(branch: Branch, ancestors: Iterator[Snapshot], nowMs: Long): Vector[Long] = {
    val oldest = branch.maxSnapshotAgeMs.fold(olderThanMs)(Retention.subtractAge(nowMs, _))
    val min = math.max(branch.minSnapshotsToKeep.getOrElse(minSnapshotsToKeep), 1)
    ancestors.zipWithIndex.takeWhile { case (s, i) => i < min || s.timestampMs >= oldest }.map(_._1.snapshotId).toVector
  }
}

object Retention {

  /**
   * Returns the retention in a table's properties. @throws IcebergError.InvalidArgument with the name of the property
   */
  def of(m: TableMetadata, nowMs: Long): Retention = Retention(
    subtractAge(nowMs, TableProperty.of(TableProperty.MaxSnapshotAge, m.properties)),
    TableProperty.of(TableProperty.MinSnapshotsToKeep, m.properties),
    TableProperty.of(TableProperty.MaxRefAge, m.properties)
  )

  /**
   * Returns the time before which snapshots are too old. If the age exceeds the range of timestamps, no snapshot is too
   * old.
   */
  private def subtractAge(nowMs: Long, ageMs: Long): Long = {
    val time = nowMs - ageMs
    if (ageMs > 0 && time > nowMs) Long.MinValue else time
  }
}
