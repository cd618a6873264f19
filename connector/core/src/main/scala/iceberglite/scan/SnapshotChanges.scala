package iceberglite.scan

import iceberglite.spec.expr.Expression
import iceberglite.spec.file.{ManifestContent, ManifestEntry}
import iceberglite.spec.file.EntryStatus.{Added, Deleted, Existing}
import iceberglite.spec.metadata.Snapshot
import iceberglite.tree.{FilePart, ManifestCache, MetadataTree, SnapshotFiles, TreeTable}
import iceberglite.scan.deletes.DeleteIndex

/**
 * Finds the data and delete files that commits added and removed. Files that have no rows that match the filter,
 * according to metadata, are omitted. Thread-safe.
 *
 * @param bound the filter, bound to the table's schema
 */
final private[scan] class SnapshotChanges(table: TreeTable, bound: Expression, cache: ManifestCache) {
  private val reader = new PartReader(table, bound, bound, StatsToKeep.All)

  def of(snapshot: Snapshot): Commit = new Commit(MetadataTree.at(snapshot, table, cache))

  /** Returns an index of delete files for the columns of the table. */
  def index(deletes: Vector[ManifestEntry]): DeleteIndex =
    if (deletes.isEmpty) DeleteIndex.Empty else DeleteIndex.of(deletes, table.metadata.specsById, reader.keys)

  /** The commit that created a snapshot. */
  final class Commit(files: SnapshotFiles) {
    def snapshot: Snapshot = files.snapshot

    private val (data, deletes) = files.parts.partition(_.content == ManifestContent.Data)
    private val (changedData, changedDeletes) = files.changedParts.partition(_.content == ManifestContent.Data)
    private val readData = changedData.filter(reader.mightMatch)

    /**
     * Whether the commit changed parts of the metadata tree (manifests in format versions 1 to 3) that list delete
     * files, so that the deletes of the commit may apply to data files that existed before.
     */
    val changesDeletes: Boolean = changedDeletes.nonEmpty

    val totalManifests: Int = changedData.size
    val skippedManifests: Int = changedData.size - readData.size

    /** The added and the removed data files that may have matching rows. Their delete files are not assigned yet. */
    lazy val (added: PlannedPart, removed: PlannedPart) = {
      val found = readData.map { part =>
        val (added, removed) = files.changesIn(part).toVector.partition(_.status == Added)
        (reader.select(part, added.iterator), reader.select(part, removed.iterator.map(asExisting)))
      }
      (PlannedPart.merge(found.map(_._1)), PlannedPart.merge(found.map(_._2)))
    }

    /**
     * Returns the data files that exist before and after the commit.
     *
     * @param paths if present, only files with these paths are returned
     */
    def keptFiles(paths: Option[Set[String]]): Vector[FileScanTask] = {
      def isKept(e: ManifestEntry): Boolean = e.isLive && !isAdded(e) && paths.forall(_.contains(e.file.path))
      val read = data.filter(p => p.hasLiveFiles && reader.mightMatch(p))
      read.flatMap(p => reader.select(p, files.entries(p).filter(isKept)).tasks)
    }

    /**
     * Returns the delete files before and after the commit.
     *
     * @param oldestData the lowest data sequence number of the data files to which the delete files may apply
     */
    def deletesFor(oldestData: Long): SnapshotDeletes = {
      def isRead(part: FilePart): Boolean = part.sequenceNumber >= oldestData && reader.mightMatch(part)
      val live = deletes.filter(p => isRead(p) && p.hasLiveFiles)
        .flatMap(p => reader.deletes(p, files.entries(p), oldestData))
      val removed = changedDeletes.filter(isRead).flatMap { part =>
        val removed = files.changesIn(part).filter(_.status == Deleted).map(asExisting)
        reader.deletes(part, removed, oldestData)
      }
      val (added, older) = live.partition(isAdded)
      SnapshotDeletes(older, added, removed)
    }

    private def isAdded(e: ManifestEntry): Boolean = e.status == Added && e.snapshotId.contains(snapshot.snapshotId)

    private def asExisting(removed: ManifestEntry): ManifestEntry = removed.copy(status = Existing)
  }
}

/**
 * The delete files before and after a commit.
 *
 * @param older the delete files that exist both before and after the commit
 * @param added the delete files that the commit added
 * @param removed the delete files that the commit removed
 */
final private[scan] case class SnapshotDeletes(
    older: Vector[ManifestEntry],
    added: Vector[ManifestEntry],
    removed: Vector[ManifestEntry]
) {
  def before: Vector[ManifestEntry] = older ++ removed

  def after: Vector[ManifestEntry] = older ++ added

  def isChanged: Boolean = added.nonEmpty || removed.nonEmpty

  /** Returns the data files that the changed delete files apply to, if each of them references a single data file. */
  def dataFiles: Option[Set[String]] = {
    val named = (added ++ removed).map(_.file.referencedDataFile)
    if (named.forall(_.isDefined)) Some(named.flatten.toSet) else None
  }
}
