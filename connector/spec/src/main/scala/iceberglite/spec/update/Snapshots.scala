package iceberglite.spec.update

import iceberglite.spec.{FormatVersion, ObjectKind}
import iceberglite.spec.IcebergError.{NotFound, ValidationFailed}
import iceberglite.spec.metadata.{Snapshot, SnapshotLogEntry, SnapshotRef, TableMetadata}
import iceberglite.spec.metadata.SnapshotRef.Main

/** Updates of the snapshots, branches and tags of a table. */
private[spec] object Snapshots {

  /** The tolerated difference between the clocks of two machines, in milliseconds. */
  val ClockToleranceMs: Long = 60000L

  def add(m: TableMetadata, s: Snapshot): TableMetadata = {
    def reject(reason: String): Nothing = throw ValidationFailed(s"Cannot add snapshot ${s.snapshotId}: $reason")
    if (m.hasSnapshot(s.snapshotId)) reject("the table already has a snapshot with this id")
    if (s.snapshotId <= 0) reject("its id must be positive")
    if (s.timestampMs < m.lastUpdatedMs - ClockToleranceMs) {
      reject(
        s"its time, ${s.timestampMs}, is before the table's last update, ${m.lastUpdatedMs}; correct this machine's " +
          "clock"
      )
    }
    m.formatVersion match {
      case FormatVersion.V1 =>
        if (s.sequenceNumber != 0) {
          reject(s"format version 1 has no sequence numbers, but its sequence number is ${s.sequenceNumber}")
        }
      case FormatVersion.V2 | FormatVersion.V3 | FormatVersion.V4 =>
        if (s.sequenceNumber <= m.lastSequenceNumber) {
          reject(s"its sequence number ${s.sequenceNumber} is not above the table's last one, ${m.lastSequenceNumber}")
        }
        if (s.manifestList.isEmpty) reject("it has no manifest list")
    }
    val added = m.copy(snapshots = m.snapshots :+ s, lastSequenceNumber = s.sequenceNumber)
    if (m.formatVersion < FormatVersion.V3) added
    else added.copy(nextRowId = m.nextRowId + assignedRowIds(m, s, reject))
  }

  /**
   * Returns the number of row ids that a snapshot assigns. Checks that the first row id of the snapshot equals the
   * table's next row id, even if the snapshot assigns no row ids.
   */
  private def assignedRowIds(m: TableMetadata, s: Snapshot, reject: String => Nothing): Long = {
    if (!s.firstRowId.contains(m.nextRowId)) {
      val firstRowId = s.firstRowId.fold("absent")(_.toString)
      reject(s"its first-row-id is $firstRowId, and the table's next-row-id is ${m.nextRowId}")
    }
    s.addedRows.filter(_ >= 0).getOrElse(
      reject(s"format version ${m.formatVersion} requires added-rows, which must be at least 0")
    )
  }

  def remove(m: TableMetadata, ids: Set[Long]): TableMetadata =
    if (!m.snapshots.exists(s => ids(s.snapshotId))) m
    else {
      m.currentSnapshotId.filter(ids).foreach { id =>
        throw ValidationFailed(s"Cannot remove snapshot $id: it is the current snapshot")
      }
      val kept = m.snapshots.filterNot(s => ids(s.snapshotId))
      val keptIds = kept.map(_.snapshotId).toSet
      m.copy(
        snapshots = kept,
        refs = m.refs.filter { case (_, ref) => keptIds(ref.snapshotId) },
        statistics = m.statistics.filterNot(f => ids(f.snapshotId)),
        partitionStatistics = m.partitionStatistics.filterNot(f => ids(f.snapshotId)),
        snapshotLog = afterLastGap(m.snapshotLog, keptIds)
      )
    }

  /**
   * Returns the entries of the snapshot log after the last entry of an expired snapshot (spec: `snapshot-log`). Earlier
   * entries are also removed. Otherwise the log would have a gap, and the snapshot before the gap would seem to have
   * been current longer than it was.
   */
  private def afterLastGap(log: Vector[SnapshotLogEntry], keptIds: Set[Long]): Vector[SnapshotLogEntry] =
    log.drop(log.lastIndexWhere(e => !keptIds(e.snapshotId)) + 1)

  /**
   * Sets a branch or tag.
   *
   * @param logTimeMs the time at which the snapshot became the current snapshot, as stored in the snapshot log
   */
  def setRef(m: TableMetadata, name: String, ref: SnapshotRef, logTimeMs: Long): TableMetadata = {
    SnapshotRef.checked(name, ref)
    if (!m.hasSnapshot(ref.snapshotId)) {
      throw NotFound(
        ObjectKind.Snapshot,
        ref.snapshotId.toString,
        s"${ref.kind.capitalize} $name must refer to a snapshot of the table"
      )
    }
    val next = m.copy(refs = m.refs.updated(name, ref))
    if (name != Main || m.currentSnapshotId.contains(ref.snapshotId)) next
    else {
      next.copy(
        currentSnapshotId = Some(ref.snapshotId),
        snapshotLog = m.snapshotLog :+ SnapshotLogEntry(logTimeMs, ref.snapshotId)
      )
    }
  }

  def removeRef(m: TableMetadata, name: String): TableMetadata = {
    val next = m.copy(refs = m.refs - name)
    if (name == Main) next.copy(currentSnapshotId = None) else next
  }
}
