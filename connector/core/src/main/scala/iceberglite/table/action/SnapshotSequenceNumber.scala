package iceberglite.table.action

import iceberglite.spec.metadata.TableMetadata

/** The sequence number of a snapshot. It is cached because the snapshot may expire before a later commit attempt. */
final private[action] class SnapshotSequenceNumber(snapshotId: Long) {
  private var known: Option[Long] = None

  def in(base: TableMetadata): Long = known.getOrElse {
    val number = base.snapshot(snapshotId).sequenceNumber
    known = Some(number)
    number
  }
}
