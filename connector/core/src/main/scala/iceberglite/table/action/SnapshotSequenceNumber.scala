package iceberglite.table.action

import iceberglite.spec.metadata.TableMetadata

/** The sequence number of a snapshot. The number is cached, because the snapshot may expire before a later attempt. */
final private[action] class SnapshotSequenceNumber(snapshotId: Long) {
  private var cached: Option[Long] = None

  def valueIn(base: TableMetadata): Long = cached.getOrElse {
    val number = base.snapshot(snapshotId).sequenceNumber
    cached = Some(number)
    number
  }
}
