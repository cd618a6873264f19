package iceberglite.scan

import iceberglite.spec.{ManifestContent, ManifestEntry, ManifestFile, Schema, Snapshot}
import iceberglite.spec.EntryStatus.{Added, Deleted, Existing}
import iceberglite.spec.expr.Expression
import iceberglite.table.Table
import iceberglite.tree.{ManifestCache, MetadataTree}

/**
 * What the commits of a table did to its files, as far as a filter needs them. Safe to share between threads.
 *
 * @param bound the filter, bound to `schema`
 */
final private[scan] class CommittedFiles(table: Table, schema: Schema, bound: Expression, cache: ManifestCache) {
  private val tree = MetadataTree.of(table.io, table.metadata, schema, cache)
  private val reading = new ManifestReading(table, schema, bound, bound, KeptMetrics.All)

  def of(snapshot: Snapshot): Commit = new Commit(snapshot, tree.manifests(snapshot))

  def index(deletes: Vector[ManifestEntry]): DeleteIndex =
    if (deletes.isEmpty) DeleteIndex.Empty else DeleteIndex.of(deletes, table.metadata.specsById, reading.keys)

  /**
   * The commit that made a snapshot: the entries of its own manifests tell what it did (spec: "Manifests"). Where the
   * entry of a deleted file has the id of another snapshot, the parent tells whether the file went with this commit or
   * before it; a parent that has expired is taken to have had it.
   */
  final class Commit(val snapshot: Snapshot, manifests: Vector[ManifestFile]) {
    private val parent = snapshot.parentSnapshotId.flatMap(table.metadata.snapshotsById.get)
    private lazy val filesBefore: Set[(String, Option[Long])] = {
      val live = parent.toVector.flatMap(tree.manifests).filter(_.hasLiveFiles)
      live.flatMap(tree.entries(_).filter(_.isLive).map(key)).toSet
    }

    private val (data, deletes) = manifests.partition(_.content == ManifestContent.Data)
    private val ownData = data.filter(isOwn)
    private val readData = ownData.filter(reading.mightMatch)

    /** Whether the commit touched rows of files that it left where they are. */
    val changesDeletes: Boolean = deletes.exists(isOwn)

    val totalManifests: Int = ownData.size
    val skippedManifests: Int = ownData.size - readData.size

    /** The new data files that may have matching rows, and those that are gone, both without their deletes. */
    lazy val (added: Selected, gone: Selected) = {
      val found = readData.map { m =>
        val changed = tree.entries(m).filter(_.status != Existing).toVector
        (reading.select(m, changed.iterator.filter(isAdded)), reading.select(m, removed(changed.iterator)))
      }
      (Selected.all(found.map(_._1)), Selected.all(found.map(_._2)))
    }

    /** The data files that were there before and are there still. @param named only these, by their paths, if given */
    def kept(named: Option[Set[String]]): Vector[FileScanTask] = {
      def isKept(e: ManifestEntry): Boolean = e.isLive && !isAdded(e) && named.forall(_.contains(e.file.path))
      val read = data.filter(m => m.hasLiveFiles && reading.mightMatch(m))
      read.flatMap(m => reading.select(m, tree.entries(m).filter(isKept)).tasks)
    }

    /**
     * The deletes before and after the commit.
     *
     * @param oldestData the least data sequence number of files that they are to be applied to
     */
    def deletesFor(oldestData: Long): CommittedDeletes = {
      val read = deletes.filter(m => m.sequenceNumber >= oldestData && reading.mightMatch(m))
      val live = read.filter(_.hasLiveFiles).flatMap(m => reading.deletes(m, tree.entries(m), oldestData))
      val gone = read.filter(isOwn).flatMap(m => reading.deletes(m, removed(tree.entries(m)), oldestData))
      val (added, older) = live.partition(isAdded)
      CommittedDeletes(older, added, gone)
    }

    private def isOwn(m: ManifestFile): Boolean = m.addedSnapshotId == snapshot.snapshotId

    private def isAdded(e: ManifestEntry): Boolean = e.status == Added && e.snapshotId.contains(snapshot.snapshotId)

    /** Of the entries of an own manifest, those that the commit took out, as they were while live. */
    private def removed(entries: Iterator[ManifestEntry]): Iterator[ManifestEntry] = entries.filter { e =>
      e.status == Deleted && (e.snapshotId.contains(snapshot.snapshotId) || parent.isEmpty || filesBefore(key(e)))
    }.map(_.copy(status = Existing))

    private def key(e: ManifestEntry): (String, Option[Long]) = (e.file.path, e.file.contentOffset)
  }
}

/**
 * The delete files around a commit.
 *
 * @param older those that were there and stay
 */
final private[scan] case class CommittedDeletes(
    older: Vector[ManifestEntry],
    added: Vector[ManifestEntry],
    removed: Vector[ManifestEntry]
) {
  def before: Vector[ManifestEntry] = older ++ removed

  def after: Vector[ManifestEntry] = older ++ added

  def isChanged: Boolean = added.nonEmpty || removed.nonEmpty

  /** The only data files that the change is about, where every delete file says for which it is. */
  def dataFiles: Option[Set[String]] = {
    val named = (added ++ removed).map(_.file.referencedDataFile)
    if (named.forall(_.isDefined)) Some(named.flatten.toSet) else None
  }
}
