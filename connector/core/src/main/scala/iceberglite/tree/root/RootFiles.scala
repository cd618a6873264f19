package iceberglite.tree.root

import iceberglite.puffin.DeletionVector
import iceberglite.spec.file.{EntryStatus, ManifestEntry}
import iceberglite.spec.metadata.{Snapshot, SummaryKey}
import iceberglite.storage.FileIO
import iceberglite.tree.{FilePart, ManifestCache, Reachable, SeenParts, SnapshotFiles, TreeCopy, TreeTable}

/** The files of a snapshot with a root manifest (version 4). */
final private[root] class RootFiles(
    override val snapshot: Snapshot,
    table: TreeTable,
    val columns: StatsColumns,
    cache: ManifestCache
) extends SnapshotFiles {
  private def io: FileIO = table.io
  val path: String = snapshot.manifestList.mkString

  /** The entries of the root with all inherited values. */
  lazy val root: Vector[ContentEntry] = table.reading(RootManifests.guard(path) {
    val contents = RootManifests.read(io, path, columns)
    if (contents.kind != ManifestKind.Root)
      throw EntryFault(s"Snapshot ${snapshot.snapshotId} refers to a ${contents.kind.name} manifest, not to a root")
    contents.entries.map(inherit)
  })

  /**
   * Returns the entry with its snapshot id and sequence numbers. If the root does not contain them, they are those of
   * the snapshot.
   */
  private def inherit(e: ContentEntry): ContentEntry = e.copy(version =
    e.version.copy(
      snapshotId = e.version.snapshotId.orElse(Some(snapshot.snapshotId)),
      sequenceNumber = e.version.sequenceNumber.orElse(Some(snapshot.sequenceNumber)),
      fileSequenceNumber = e.version.fileSequenceNumber.orElse(Some(snapshot.sequenceNumber))
    )
  )

  /**
   * The deletion vectors of each leaf, by the location of the leaf. The positions that the snapshot itself removed are
   * those in its new vector that are not in the vector that it replaced.
   */
  lazy val vectors: Map[String, LeafVectors] = table.reading(RootManifests.guard(path) {
    root.filter(_.content == EntryContent.ManifestVector).groupBy(_.referencedFile.mkString).map { case (leaf, all) =>
      val (live, removed) = all.partition(_.isLive)
      leaf -> LeafVectors(
        live,
        union(live),
        if (live.exists(isChange)) union(live.filter(isChange)).without(union(removed)) else DeletionVector.Empty
      )
    }
  })

  private def isChange(e: ContentEntry): Boolean =
    e.version.status == EntryStatus.Added && e.version.snapshotId.contains(snapshot.snapshotId)

  /**
   * Merges the deletion vectors of a leaf. A reader accepts several live vectors, although writers write at most one.
   */
  private def union(entries: Vector[ContentEntry]): DeletionVector =
    entries.map(ManifestVectors.read(io, path, _)).foldLeft(DeletionVector.Empty)(_.union(_))

  lazy val leaves: Vector[LeafPart] = RootManifests.guard(path) {
    root.filter(e => e.isLive && e.manifest.isDefined).map { e =>
      val removed = vectors.get(e.location).map(_.positions).filterNot(_.isEmpty)
      removed.flatMap(beyond(e, _)).foreach(reason => throw EntryFault(reason))
      new LeafPart(e, removed.fold(Array.emptyByteArray)(_.toBytes), columns, table.specs)
    }
  }

  private def beyond(leaf: ContentEntry, removed: DeletionVector): Option[String] = {
    var last = -1L
    removed.foreachIn(leaf.recordCount, Long.MaxValue)(position => last = position)
    if (last < 0) None
    else Some(
      s"The deletion vector of ${leaf.location} has the position $last, but the manifest has ${leaf.recordCount} entries"
    )
  }

  lazy val inline: Vector[InlinePart] = InlinePart.of(path, length, root, columns, table.specs)

  /** The length of the root in bytes, from the summary of the snapshot; estimated if the summary lacks it. */
  private def length: Long =
    snapshot.summary.get(SummaryKey.RootLength).flatMap(text => scala.util.Try(text.toLong).toOption)
      .filter(_ > 0).getOrElse(RootFiles.EstimatedEntryBytes * root.size)

  override lazy val parts: Vector[FilePart] = leaves ++ inline

  override def entries(part: FilePart): Iterator[ManifestEntry] = table.reading {
    part match {
      case leaf: LeafPart if cache.canCache(leaf) =>
        cache.entriesOf(leaf.cacheKey(io))(leaf.entries(io).toArray).iterator
      // The entries of the root are already in memory.
      case other => other.entries(io)
    }
  }

  override def partsWrittenBy(isGiven: Long => Boolean): Vector[FilePart] = parts.filter {
    case leaf: LeafPart =>
      val vector = vectors.get(leaf.path).toVector.flatMap(_.live)
      (leaf.leaf +: vector).exists(_.version.snapshotId.exists(isGiven))
    // The root of a snapshot is always new, even if all files that it lists were carried over.
    case other => isGiven(snapshot.snapshotId) || other.entries(io).exists(_.snapshotId.exists(isGiven))
  }

  override def changesIn(part: FilePart): Iterator[ManifestEntry] = part match {
    case leaf: LeafPart => super.changesIn(leaf) ++ removedFrom(leaf)
    case other => super.changesIn(other)
  }

  /**
   * Returns the entries that the snapshot removed from a leaf, with the status `deleted` and the id of the snapshot.
   */
  private def removedFrom(leaf: LeafPart): Iterator[ManifestEntry] = {
    val removed = vectors.get(leaf.path).map(_.changed).getOrElse(DeletionVector.Empty)
    if (removed.isEmpty) Iterator.empty
    else table.reading(leaf.at(io, removed))
      .map(_.copy(status = EntryStatus.Deleted, snapshotId = Some(snapshot.snapshotId)))
  }

  override def reachable(seen: SeenParts): Reachable = {
    val newLeaves = leaves.filter(leaf => seen.add(leaf.id))
    val newFiles =
      inline.map(part => part.only(entries(part).filter(_.isLive).map(InlinePart.key).filter(seen.add).toSet))
    val puffins = root.filter(e => e.content == EntryContent.ManifestVector && e.location.nonEmpty).map(_.location)
    Reachable((path +: newLeaves.map(_.path)) ++ puffins.distinct, newLeaves ++ newFiles)
  }

  override def copyRoot(copy: TreeCopy, lengths: Map[String, Long]): Unit =
    new RootCopy(io, columns, copy).writeRoot(this, lengths)
}

private[root] object RootFiles {
  private val EstimatedEntryBytes = 100L
}

/**
 * The deletion vectors of a leaf in a snapshot.
 *
 * @param live the entries of the live vectors
 * @param positions the positions of all removed entries, from the live vectors
 * @param changed the positions of the entries that the snapshot itself removed
 */
final private[root] case class LeafVectors(
    live: Vector[ContentEntry],
    positions: DeletionVector,
    changed: DeletionVector
)
