package iceberglite.tree.root

import iceberglite.puffin.DeletionVector
import iceberglite.spec.file.{EntryStatus, ManifestEntry, ManifestFile}
import iceberglite.spec.metadata.{Snapshot, SummaryKey}
import iceberglite.storage.FileIO
import iceberglite.tree._

/**
 * The files of a snapshot with a root manifest (version 4). The root lists some files itself. For the other files, it
 * lists leaves, which are manifests, and deletion vectors that remove entries of the leaves.
 */
final private[root] class RootFiles(
    override val snapshot: Snapshot,
    table: TreeTable,
    val columns: StatsColumns,
    cache: ManifestCache
) extends SnapshotFiles {
  private def io: FileIO = table.io
  val path: String = snapshot.manifestList.mkString

  /** The entries of the root with all inherited values. */
  def root: Vector[ContentEntry] = decoded.entries

  private lazy val decoded: DecodedRoot = table.reading(RootManifests.guard(path) {
    cache.rootOf(DecodedRoot.key(table, snapshot.snapshotId, path, columns))(new DecodedRoot(readRoot())) match {
      case known: DecodedRoot => known
      case _ => new DecodedRoot(readRoot())
    }
  })

  private lazy val derived: RootParts = table.reading(RootManifests.guard(path)(decoded.parts { entries =>
    val vectors = vectorsOf(entries)
    val root = InlinePart.RootFile(path, length, table.rootKey(snapshot))
    RootParts(
      vectors,
      leavesOf(entries, vectors),
      removedOf(entries),
      InlinePart.of(root, entries, columns, table.specs)
    )
  }))

  private def readRoot(): Vector[ContentEntry] = {
    val contents = RootManifests.read(table.rootIO(snapshot, path), path, columns, recordedLength.getOrElse(0L))
    if (contents.kind != ManifestKind.Root)
      throw EntryFault(s"Snapshot ${snapshot.snapshotId} refers to a ${contents.kind.name} manifest, not to a root")
    contents.entries.map(inherit)
  }

  /**
   * Returns the entry with its snapshot id and sequence numbers. If the root does not contain one of these values, the
   * value of the snapshot is used.
   */
  private def inherit(e: ContentEntry): ContentEntry = e.copy(version =
    e.version.copy(
      snapshotId = e.version.snapshotId.orElse(Some(snapshot.snapshotId)),
      sequenceNumber = e.version.sequenceNumber.orElse(Some(snapshot.sequenceNumber)),
      fileSequenceNumber = e.version.fileSequenceNumber.orElse(Some(snapshot.sequenceNumber))
    )
  )

  /**
   * The deletion vectors of each leaf, by the location of the leaf. The positions that are in the new vector of a leaf,
   * but not in the vector that it replaces, are those of the entries that this snapshot itself removed.
   */
  def vectors: Map[String, LeafVectors] = derived.vectors

  private def vectorsOf(root: Vector[ContentEntry]): Map[String, LeafVectors] = {
    val entries = root.filter(_.content == EntryContent.ManifestVector)
    val positions = new StoredVectors(table, path).read(entries)
    def union(of: Vector[ContentEntry]) = of.map(positions).foldLeft(DeletionVector.Empty)(_.union(_))
    entries.groupBy(_.referencedFile.mkString).map { case (leaf, all) =>
      // A reader accepts several live vectors of a leaf, although writers write at most one.
      val (live, replaced) = all.partition(_.isLive)
      val (changed, carriedOver) = live.partition(isChange)
      val before = union(replaced ++ carriedOver)
      val added = if (changed.nonEmpty) union(changed).without(before) else DeletionVector.Empty
      leaf -> LeafVectors(live, replaced, union(live), before, added)
    }
  }

  /** Returns whether this snapshot has added the entry. */
  def isChange(e: ContentEntry): Boolean =
    e.version.status == EntryStatus.Added && e.version.snapshotId.contains(snapshot.snapshotId)

  /** The leaves, without the entries that their deletion vectors remove. */
  def leaves: Vector[LeafPart] = derived.leaves

  private def leavesOf(root: Vector[ContentEntry], vectors: Map[String, LeafVectors]): Vector[LeafPart] = {
    val leaves = root.filter(e => e.isLive && e.manifest.isDefined)
    val affiliations = new Affiliations(leaves, columns)
    leaves.map { e =>
      val removed = vectors.get(e.location).map(_.positions).filterNot(_.isEmpty)
      removed.flatMap(outOfRange(e, _)).foreach(reason => throw EntryFault(reason))
      val bytes = removed.fold(Array.emptyByteArray)(_.toBytes)
      new LeafPart(e, bytes, columns, table.specs, dataPart = affiliations.dataManifest(e))
    }
  }

  /** The leaves that the snapshot removed as a whole, without regard to their deletion vectors. */
  def removedLeaves: Vector[LeafPart] = derived.removed

  private def removedOf(root: Vector[ContentEntry]): Vector[LeafPart] =
    root.filter(e => !e.isLive && e.manifest.isDefined && e.version.snapshotId.contains(snapshot.snapshotId))
      .map(new LeafPart(_, Array.emptyByteArray, columns, table.specs))

  private lazy val partsOfRemovedLeaves: Vector[RemovedPart] =
    if (removedLeaves.isEmpty) Vector.empty else new RemovedLeaves(this, table.pool).parts

  private def outOfRange(leaf: ContentEntry, removed: DeletionVector): Option[String] =
    removed.firstFrom(leaf.recordCount).map(first =>
      s"The deletion vector of ${leaf.location} has the position $first, but the manifest has " +
        s"${leaf.recordCount} entries"
    )

  /** The files that the root lists itself. */
  def inline: Vector[InlinePart] = derived.inline

  /** The length of the root in bytes; estimated if the summary of the snapshot lacks it. */
  private def length: Long = recordedLength.getOrElse(RootFiles.EstimatedEntryBytes * root.size)

  private def recordedLength: Option[Long] = snapshot.count(SummaryKey.RootLength).filter(_ > 0)

  override lazy val parts: Vector[FilePart] = leaves ++ inline

  override def entries(part: FilePart): CloseableIterator[ManifestEntry] = part match {
    case leaf: LeafPart => leaf.listed(allEntries(leaf))
    // The entries of the root are already in memory. The removed entries of a leaf are read without the cache.
    case other => table.reading(other.entries(io))
  }

  /** Returns the entries that a leaf lists, with their positions in the file. */
  def positioned(leaf: LeafPart): CloseableIterator[(Long, ManifestEntry)] = leaf.positioned(allEntries(leaf))

  /**
   * Returns all entries of a leaf. If they fit into the cache, they are cached together, so that snapshots with
   * different deletion vectors share them.
   */
  def allEntries(leaf: LeafPart): CloseableIterator[ManifestEntry] = table.reading {
    if (cache.canCache(leaf.whole))
      CloseableIterator.of(cache.entriesOf(leaf.cacheKey(io))(leaf.allEntries(io).toArray).iterator)
    else leaf.allEntries(io)
  }

  override def partsWrittenBy(isGiven: Long => Boolean): Vector[FilePart] = parts.filter {
    case leaf: LeafPart =>
      val vector = vectors.get(leaf.path).toVector.flatMap(_.live)
      (leaf.leaf +: vector).exists(_.version.snapshotId.exists(isGiven))
    // The root of a snapshot is always new, even if all files that it lists were carried over.
    case other => isGiven(snapshot.snapshotId) || other.entries(io).exists(_.snapshotId.exists(isGiven))
  } ++ (if (isGiven(snapshot.snapshotId)) partsOfRemovedLeaves else Vector.empty)

  override def changesIn(part: FilePart): Iterator[ManifestEntry] = part match {
    case leaf: LeafPart => super.changesIn(leaf) ++ removedFrom(leaf).iterator.flatMap(entries)
    case other => super.changesIn(other)
  }

  override def removedParts: Vector[FilePart] = leaves.flatMap(removedFrom) ++ partsOfRemovedLeaves

  /** Returns the entries that the snapshot removed from a leaf; absent if it removed none. */
  private def removedFrom(leaf: LeafPart): Option[RemovedPart] =
    vectors.get(leaf.path).map(_.changed).filterNot(_.isEmpty)
      .map(positions => new RemovedPart(leaf, positions.toBytes, snapshot.snapshotId))

  override lazy val manifests: Vector[ManifestFile] =
    table.pool.map(leaves)(leaf => TreeNodes.leaf(leaf, entries(leaf)))

  override lazy val treeRoot: Option[TreeRoot] = {
    val exact = recordedLength.orElse(io.info(path).map(_.length)).getOrElse(length)
    Some(TreeNodes.root(path, exact, root))
  }

  override def violations(parent: Option[SnapshotFiles]): Option[Vector[TreeViolation]] =
    Some(new TreeInvariants(this, parent, table).violations)

  override def reachable(seen: SeenParts): Reachable = {
    val found = leaves.map(leaf => leaf -> seen.addWithout(leaf.path, leaf.vector))
    val newLeaves = found.flatMap {
      case (leaf, None) => Some(leaf)
      case (leaf, Some(positions)) => if (positions.isEmpty) None else Some(leaf.only(positions))
    }
    val newFiles = inline.map(part => part.only(entries(part).map(InlinePart.selectionKey).filter(seen.add).toSet))
    val puffins = root.filter(e => e.content == EntryContent.ManifestVector && e.location.nonEmpty).map(_.location)
    val newPaths = found.collect { case (leaf, None) => leaf.path }
    // The changes of the snapshot can be read only as long as the leaves that it removed exist.
    Reachable((path +: newPaths) ++ removedLeaves.map(_.path) ++ puffins.distinct, newLeaves ++ newFiles)
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
 * @param replaced the entries of the vectors with the status `deleted`
 * @param positions the positions of all removed entries, from the live vectors
 * @param before the positions in the vectors of the parent snapshot: those that are replaced or carried over
 * @param changed the positions of the entries that the snapshot itself removed
 */
final private[root] case class LeafVectors(
    live: Vector[ContentEntry],
    replaced: Vector[ContentEntry],
    positions: DeletionVector,
    before: DeletionVector,
    changed: DeletionVector
)
