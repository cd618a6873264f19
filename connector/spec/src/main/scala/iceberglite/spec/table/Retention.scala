package iceberglite.spec.table

import iceberglite.spec.metadata.{Snapshot, SnapshotRef, TableMetadata}
import iceberglite.spec.metadata.SnapshotRef.{Branch, Main, Tag}
import iceberglite.spec.property.TableProperty
import iceberglite.spec.update.MetadataUpdate
import iceberglite.spec.update.MetadataUpdate.{RemoveSnapshotRef, RemoveSnapshots}

/** The snapshots, branches and tags that expire. */
final case class Expiration(snapshotIds: Set[Long], refs: Set[String]) {
  def isEmpty: Boolean = snapshotIds.isEmpty && refs.isEmpty

  def updates: Vector[MetadataUpdate] =
    refs.toVector.sorted.map(RemoveSnapshotRef) ++ Some(RemoveSnapshots(snapshotIds)).filter(_ => snapshotIds.nonEmpty)
}

/**
 * The default retention of the snapshots, branches and tags of a table. The settings of a branch or tag override the
 * default (spec: "Snapshot Retention Policy").
 *
 * @param olderThanMs snapshots before this time may expire, in milliseconds since 1970
 * @param minSnapshotsToKeep the minimum number of snapshots to keep for each branch
 * @param maxRefAgeMs the age at which branches and tags other than main expire, in milliseconds
 * @param maxSnapshotsToKeep the maximum number of snapshots to keep for each branch, regardless of their age; if the
 *   minimum number is higher, it takes precedence. The specification has no such limit
 */
final case class Retention(
    olderThanMs: Long,
    minSnapshotsToKeep: Int,
    maxRefAgeMs: Long,
    maxSnapshotsToKeep: Option[Int] = None
) {

  /**
   * Returns the expired snapshots, branches and tags. The method follows the steps of the specification with two
   * exceptions: [[maxSnapshotsToKeep]], and, as in Apache Iceberg, a snapshot that no remaining branch or tag contains
   * expires only if it is older than [[olderThanMs]], because it may be staged for publication.
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
    val minToKeep = math.max(branch.minSnapshotsToKeep.getOrElse(minSnapshotsToKeep), 1)
    val maxToKeep = maxSnapshotsToKeep.getOrElse(Int.MaxValue)
    ancestors.zipWithIndex
      .takeWhile { case (s, i) => i < minToKeep || (i < maxToKeep && s.timestampMs >= oldest) }
      .map(_._1.snapshotId).toVector
  }
}

object Retention {

  /**
   * Returns the retention that a table's properties define.
   *
   * @throws IcebergError.InvalidArgument if a property is invalid; the message names the property
   */
  def of(m: TableMetadata, nowMs: Long): Retention = Retention(
    subtractAge(nowMs, TableProperty.of(TableProperty.MaxSnapshotAge, m.properties)),
    TableProperty.of(TableProperty.MinSnapshotsToKeep, m.properties),
    TableProperty.of(TableProperty.MaxRefAge, m.properties),
    TableProperty.of(TableProperty.MaxSnapshotsToKeep, m.properties)
  )

  /**
   * Returns the time that is `ageMs` before `nowMs`. Returns the minimum long if the result would overflow, so that no
   * snapshot is older.
   */
  private def subtractAge(nowMs: Long, ageMs: Long): Long = {
    val time = nowMs - ageMs
    if (ageMs > 0 && time > nowMs) Long.MinValue else time
  }
}
