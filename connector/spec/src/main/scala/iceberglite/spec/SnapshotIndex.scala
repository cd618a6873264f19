package iceberglite.spec

import scala.collection.immutable

/**
 * Snapshots by their ids. A commit asks for a few, mostly for the newest, in metadata that the next commit replaces:
 * those are looked for one by one, and only who goes on asking gets an index.
 *
 * @param snapshots of two with one id the later counts
 */
final private[spec] class SnapshotIndex(snapshots: Vector[Snapshot])
    extends immutable.AbstractMap[Long, Snapshot]
    with Serializable {
  @volatile private var asked = 0
  private lazy val index: Map[Long, Snapshot] = snapshots.iterator.map(s => s.snapshotId -> s).toMap

  override def get(id: Long): Option[Snapshot] =
    if (asked > SnapshotIndex.Few) index.get(id)
    else {
      // Threads that count at once may count one too few, which only puts the index off.
      asked += 1
      snapshots.reverseIterator.find(_.snapshotId == id)
    }

  override def iterator: Iterator[(Long, Snapshot)] = index.iterator
  override def size: Int = index.size
  override def +[B >: Snapshot](entry: (Long, B)): Map[Long, B] = index + entry
  override def -(id: Long): Map[Long, Snapshot] = index - id
}

private[spec] object SnapshotIndex {
  private val Few = 8
}
