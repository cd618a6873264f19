package iceberglite.table.action

import iceberglite.spec.TableMetadata

/** The sequence number of a snapshot, which may expire before a later attempt to commit. */
final private[action] class SequenceNumberOf(snapshotId: Long) {
  private var known: Option[Long] = None

  def in(base: TableMetadata): Long = known.getOrElse {
    val number = base.snapshot(snapshotId).sequenceNumber
    known = Some(number)
    number
  }
}
