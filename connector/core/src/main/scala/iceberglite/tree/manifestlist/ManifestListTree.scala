package iceberglite.tree.manifestlist

import iceberglite.spec.{FormatVersion, IcebergError}
import iceberglite.spec.file.{ManifestEntry, ManifestFile}
import iceberglite.spec.file.EntryStatus.{Added, Deleted, Existing}
import iceberglite.spec.metadata.{Snapshot, SummaryKey}
import iceberglite.storage.FileIO
import iceberglite.tree.{
  CloseableIterator,
  EntryCodec,
  FileChanges,
  FilePart,
  ListKey,
  ManifestCache,
  MetadataTree,
  Reachable,
  SeenParts,
  SnapshotFiles,
  TreeCopy,
  NewSnapshotHeader,
  TreeTable,
  WrittenTree
}

/**
 * The layout of metadata trees in format versions 1 to 3 (spec: "Manifests", "Manifest Lists"). A tree consists of a
 * manifest list and manifests. Some snapshots of version 1 have no manifest list, and table metadata lists their
 * manifests.
 */
object ManifestListTree extends MetadataTree {

  /** The magic bytes of an Avro file. Every manifest list is an Avro file. */
  private val Magic = Array[Byte]('O', 'b', 'j', 1)

  override def canRead(path: String, head: => Array[Byte]): Boolean = path.endsWith(".avro") || head.startsWith(Magic)

  override def canWrite(version: FormatVersion): Boolean = version <= FormatVersion.V3

  override val entryCodec: Option[EntryCodec] = Some(EncodedEntries)

  override def at(snapshot: Snapshot, table: TreeTable, cache: ManifestCache): ManifestListFiles =
    new ManifestListFiles(snapshot, table, cache)

  override def write(
      header: NewSnapshotHeader,
      table: TreeTable,
      parent: Option[SnapshotFiles],
      changes: FileChanges,
      earlier: Option[WrittenTree],
      cache: ManifestCache
  ): WrittenManifestList = {
    val files = parent.map {
      case list: ManifestListFiles => list
      case other => throw IcebergError.Unsupported(
          s"a commit to ${table.name} in format version ${table.metadata.formatVersion}, because the metadata files " +
            s"of the parent snapshot ${other.snapshot.snapshotId} have the layout of a later format version",
          "Upgrade the table's format version"
        )
    }
    val earlierList = earlier.collect { case list: WrittenManifestList => list }
    new ManifestListWriter(header, table, files, changes, earlierList, cache).run()
  }
}

/** The files of a snapshot with a manifest list, or with manifests in table metadata. */
final private[iceberglite] class ManifestListFiles(
    override val snapshot: Snapshot,
    table: TreeTable,
    cache: ManifestCache
) extends SnapshotFiles {
  import ManifestListFiles._

  private def io: FileIO = table.io

  override lazy val manifests: Vector[ManifestFile] = snapshot.manifestList match {
    case Some(path) => cache.manifestsOf(ListKey(io, path))(table.reading(readList(path)))
    case None =>
      table.pool.map(snapshot.manifests) { path =>
        cache.manifestsOf(ListKey(io, path))(Vector(EmbeddedManifests.read(path, snapshot, table))).head
      }
  }

  private[iceberglite] lazy val manifestParts: Vector[ManifestPart] = manifests.map(new ManifestPart(_, table.specs))

  override def parts: Vector[FilePart] = manifestParts

  override def entries(part: FilePart): CloseableIterator[ManifestEntry] = table.reading {
    if (cache.canCache(part))
      CloseableIterator.of(cache.entriesOf(part.cacheKey(io))(part.entries(io).toArray).iterator)
    else part.entries(io)
  }

  override lazy val changedParts: Vector[FilePart] = partsWrittenBy(_ == snapshot.snapshotId)

  override def partsWrittenBy(isGiven: Long => Boolean): Vector[FilePart] =
    manifestParts.filter(part => isGiven(part.manifest.addedSnapshotId))

  override def changesIn(part: FilePart): Iterator[ManifestEntry] = entries(part).filter { e =>
    e.status match {
      case Existing => false
      case Added => e.snapshotId.contains(snapshot.snapshotId)
      case Deleted => e.snapshotId.contains(snapshot.snapshotId) || parent.forall(_.hadFile(e))
    }
  }

  private lazy val parent: Option[ManifestListFiles] = snapshot.parentSnapshotId
    .flatMap(table.metadata.findSnapshot).map(new ManifestListFiles(_, table, cache))

  private lazy val liveFiles: Set[(String, Option[Long])] =
    manifestParts.filter(_.hasLiveFiles).flatMap(entries(_).filter(_.isLive).map(fileKey)).toSet

  private def hadFile(e: ManifestEntry): Boolean = liveFiles(fileKey(e))

  override def reachable(seen: SeenParts): Reachable = {
    val newParts = parts.filter(part => seen.add(part.id))
    Reachable(snapshot.manifestList.toVector ++ newParts.map(_.path), newParts)
  }

  override def copyRoot(copy: TreeCopy, lengths: Map[String, Long]): Unit =
    snapshot.manifestList.foreach(new ManifestListCopy(table, copy).writeList(_, snapshot, manifestParts, lengths))

  /**
   * Reads the manifest list. A manifest list that was truncated right after its Avro header looks like a valid empty
   * list. To detect such a file, an empty list is compared with the number of data files in the snapshot's summary.
   */
  private def readList(path: String): Vector[ManifestFile] = {
    val manifests = ManifestLists.read(table.rootIO(snapshot, path), path)
    val files = snapshot.summary.get(SummaryKey.TotalDataFiles)
    if (manifests.isEmpty && files.exists(_ != "0")) throw IcebergError.UnreadableFile(
      path,
      "manifest list",
      s"It lists no manifests, but its snapshot ${snapshot.snapshotId} has ${files.mkString} data files, so it was " +
        "truncated. Restore the file, or roll back to another snapshot"
    )
    manifests
  }
}

private object ManifestListFiles {

  /**
   * Returns the path and the content offset of a file, which identify it together. The offset is needed because a
   * Puffin file may contain the deletion vectors of several data files.
   */
  private def fileKey(e: ManifestEntry): (String, Option[Long]) = (e.file.path, e.file.contentOffset)
}
