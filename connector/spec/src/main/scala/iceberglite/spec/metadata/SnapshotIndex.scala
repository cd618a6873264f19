package iceberglite.spec.metadata

import scala.collection.immutable

/**
 * Finds snapshots by id. A commit looks up only a few snapshots, mostly the newest snapshots. Therefore the first
 * lookups are linear searches, and the index is built only after several lookups.
 *
 * @param snapshots the snapshots; if two snapshots have the same id, the last one is used
 */
final private[metadata] class SnapshotIndex(snapshots: Vector[Snapshot])
    extends immutable.AbstractMap[Long, Snapshot]
    with Serializable {
  @volatile private var lookups = 0
  private lazy val index: Map[Long, Snapshot] = snapshots.iterator.map(s => s.snapshotId -> s).toMap

  override def get(id: Long): Option[Snapshot] =
    if (lookups > SnapshotIndex.LinearLookups) index.get(id)
    else {
      // Increments of concurrent threads may be lost, which only delays the construction of the index.
      lookups += 1
      snapshots.reverseIterator.find(_.snapshotId == id)
    }

  override def iterator: Iterator[(Long, Snapshot)] = index.iterator
  override def size: Int = index.size
  override def +[B >: Snapshot](entry: (Long, B)): Map[Long, B] = index + entry
  override def -(id: Long): Map[Long, Snapshot] = index - id
}

private[metadata] object SnapshotIndex {

  /** The number of lookups that search linearly, before the index is built. */
  private val LinearLookups = 8
}
