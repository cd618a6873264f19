package iceberglite.tree.root

import iceberglite.puffin.DeletionVector
import iceberglite.spec.file.{EntryStatus, FieldSummary, ManifestContent, ManifestEntry, Metrics}
import iceberglite.storage.FileIO
import iceberglite.tree.{CloseableIterator, FilePart, PartKey, TreeCopy, TreeTable}

/**
 * The entries that a snapshot removed from a leaf manifest, with the status `deleted` and the id of the snapshot. The
 * file of the leaf does not change: it contains the entries as they were before the removal.
 *
 * @param positions the bytes of a deletion vector with the positions of the entries
 */
final private[root] class RemovedPart(leaf: LeafPart, positions: Array[Byte], snapshotId: Long) extends FilePart {
  @transient private lazy val removed: DeletionVector = DeletionVector.parse(path, path, positions)

  override def path: String = leaf.path
  override def id: String = s"$path#removed#$snapshotId"
  override def content: ManifestContent = leaf.content
  override def specId: Int = leaf.specId
  override def length: Long = leaf.length
  override def liveFiles: Option[Long] = Some(0L)
  override def sequenceNumber: Long = leaf.sequenceNumber
  override def minSequenceNumber: Long = leaf.minSequenceNumber
  override def recordCount: Long = leaf.recordCount
  override def partitions: Option[Vector[FieldSummary]] = leaf.partitions
  override def metrics: Metrics = leaf.metrics

  override def entries(io: FileIO): CloseableIterator[ManifestEntry] =
    leaf.entriesAt(io, removed).filter(_.isLive)
      .map(_.copy(status = EntryStatus.Deleted, snapshotId = Some(snapshotId)))

  /** Copies the leaf, which the snapshot has removed as a whole, so that none of its files is live. */
  override def copyTo(table: TreeTable, copy: TreeCopy): Long =
    leaf.copyTo(table, new CopyWithRemovedFiles(copy, leaf.allEntries(table.io)))

  override def forReading: FilePart = new RemovedPart(leaf.forReading, positions, snapshotId)

  override private[tree] def cacheKey(io: FileIO): PartKey = leaf.cacheKey(io).copy(path = id)
}
