package iceberglite.tree.root

import iceberglite.spec.file.{Content, ContentFile, ManifestEntry}
import iceberglite.spec.file.EntryStatus.{Added, Existing}
import iceberglite.spec.property.TableProperty
import iceberglite.storage.EncryptedFileIO
import iceberglite.tree.{FileChanges, ManifestCache, ParallelWriter, SnapshotFiles, NewSnapshotHeader, TreeTable}
import iceberglite.tree.manifestlist.AddedFileCheck

/** Writes the metadata tree of a snapshot in one commit attempt; see [[RootTree]]. */
final private[root] class RootWriter(
    header: NewSnapshotHeader,
    table: TreeTable,
    parent: Option[SnapshotFiles],
    changes: FileChanges,
    earlier: Option[WrittenRoot],
    columns: StatsColumns,
    limits: RootLimits,
    cache: ManifestCache
) {
  private val files = new EntryFiles(columns)
  private val output = new ParallelWriter(table.io, header.metadataPath, table.pool)
  private val leaves = new LeafManifestWriter(header, columns, output, () => table.newKey())
  private val rowIds = new NextRowId(header.firstRowId.getOrElse(0L))

  /** Writes the tree. On failure, the files that were already written are deleted. */
  def run(): WrittenRoot = output.complete(writeAll())

  private def writeAll(): WrittenRoot = {
    val added = newEntries
    val base = ParentEntries.of(parent, table, columns, rowIds)
    val empty = emptyLeaves(base)
    val removals = new RemovedEntryFinder(base, changes, header, table).find()
    val (inlineFiles, newLeaves) = placeAdded(added, base)
    val newFiles = inlineFiles.map(e => withRowId(files.toContent(e)))
    val leafEntries = newLeaves.map(leaf => withRowIds(leaf.entry))
    val kept = maintained(base, empty, removals)
    val unsorted = leafEntries ++ newFiles ++ removals.files ++ kept.entries ++ removals.vectors
    val root = RootWriter.withLooseBounds(unsorted).sortBy(RootWriter.position)
    val key = table.newKey()
    val content = RootManifests.write(rootPath, ManifestKind.Root, columns, root, properties)
    val bytes = key.fold(content)(EncryptedFileIO.encrypt(content, _))
    val length = bytes.length.toLong
    output.write(rootPath, bytes)
    RootSizeWarning.check(table, length, limits.maxRootBytes)
    cache.putRoot(DecodedRoot.key(table, header.snapshotId, rootPath, columns), new DecodedRoot(root))
    WrittenRoot(
      pointer = rootPath,
      addedRows = header.firstRowId.map(first => rowIds.next - first),
      added = changes.allAdded,
      removed = removals.removed,
      root = RootContent(root, length, key.map(_.withLength(length)), vectorCounts(base, empty, root)),
      newLeaves = newLeaves,
      rewritten = kept.rewritten,
      written = output.paths
    )
  }

  /** Counts the new deletion vectors of leaves, and those of leaves that were rewritten without removed entries. */
  private def vectorCounts(base: ParentEntries, empty: Set[String], root: Vector[ContentEntry]): VectorCounts = {
    val vectors = root.filter(e => e.content == EntryContent.ManifestVector && e.isLive)
    val kept = vectors.flatMap(_.referencedFile).toSet
    VectorCounts(
      added = vectors.count(_.version.status == Added),
      folded = base.leaves.count(leaf => !leaf.vector.isEmpty && !empty(leaf.path) && !kept(leaf.path))
    )
  }

  private val rootPath =
    s"${header.metadataPath}/root-${header.snapshotId}-${header.attempt}-${header.commitId}.parquet"

  private def properties: Map[String, String] = Map(
    "snapshot-id" -> header.snapshotId.toString,
    "sequence-number" -> header.sequenceNumber.toString
  ) ++ header.parent.map("parent-snapshot-id" -> _.snapshotId.toString)

  private def newEntries: Vector[ManifestEntry] = {
    val all =
      changes.added.map(newEntry(_, None)) ++ changes.addedOlder.map(o => newEntry(o.file, Some(o.sequenceNumber)))
    all.foreach(AddedFileCheck.check(_, header, table))
    all
  }

  private def newEntry(file: ContentFile, number: Option[Long]): ManifestEntry =
    ManifestEntry(Added, Some(header.snapshotId), number, None, file)

  /**
   * Decides which added files the root lists itself. Returns these files, and new leaves for the other files. New
   * leaves are written if there are too many files with the same content (data or deletes) and partition spec, or if
   * their entries are too large for the root.
   */
  private def placeAdded(
      added: Vector[ManifestEntry],
      base: ParentEntries
  ): (Vector[ManifestEntry], Vector[NewLeaf]) = {
    def group(e: ManifestEntry) = (e.file.specId, e.file.content == Content.Data)
    val byGroup = added.groupBy(group)
    val groups = added.map(group).distinct.map(byGroup)
    val (small, large) = groups.partition { group =>
      group.size <= limits.maxInlineFiles && EntrySizes.of(group.map(files.toContent)) <= limits.inlineBytes
    }
    val target = leafTarget(added, base)
    val runs = large.flatMap(runsOf(_, target))
    (small.flatten.map(completed), table.pool.map(runs)(newLeaf))
  }

  /** Divides added files into runs, each for one leaf. If there are several runs, the files are sorted first. */
  private def runsOf(entries: Vector[ManifestEntry], target: Long): Vector[Vector[ManifestEntry]] =
    new LeafRuns(columns).of(entries, target)(new AddedFileOrder(columns, table.metadata.sortOrder).sort)

  /** Returns the target size of new leaves in bytes. */
  private def leafTarget(added: Vector[ManifestEntry], base: ParentEntries): Long = {
    val configured = TableProperty.of(TableProperty.ManifestTargetSize, table.metadata.properties)
    val count = added.size + base.leaves.iterator.map(_.estimatedLiveFiles).sum
    added.headOption.fold(configured)(e =>
      EntrySizes.leafTarget(configured, count, EntrySizes.of(files.toContent(e)))
    )
  }

  private def newLeaf(entries: Vector[ManifestEntry]): NewLeaf =
    earlier.flatMap(_.newLeaves.find(_.lists(entries))).map(recommitted).getOrElse {
      val own = entries.map(e => e.copy(snapshotId = None, file = e.file.copy(firstRowId = None)))
      NewLeaf(leaves.write(own.map(files.toContent), Added), entries)
    }

  /** Returns a leaf that an earlier attempt wrote, with the sequence number of this attempt in its entry. */
  private def recommitted(leaf: NewLeaf): NewLeaf = {
    val oldest = leaf.files.map(_.sequenceNumber.getOrElse(header.sequenceNumber)).min
    val entry = leaves.recommitted(leaf.entry)
    leaf.copy(entry = entry.copy(manifest = entry.manifest.map(_.copy(minSequenceNumber = oldest))))
  }

  /**
   * Returns the entry of an added file with its sequence numbers, which the entry would inherit if a leaf listed it.
   */
  private def completed(e: ManifestEntry): ManifestEntry = e.copy(
    sequenceNumber = e.sequenceNumber.orElse(Some(header.sequenceNumber)),
    fileSequenceNumber = Some(header.sequenceNumber),
    file = e.file.copy(firstRowId = None)
  )

  private def withRowId(e: ContentEntry): ContentEntry =
    if (e.content == EntryContent.Data) e.copy(firstRowId = Some(rowIds.take(e.recordCount))) else e

  private def withRowIds(leaf: ContentEntry): ContentEntry =
    if (leaf.content != EntryContent.DataManifest) leaf
    else leaf.copy(firstRowId = Some(rowIds.take(leaf.manifest.fold(0L)(_.addedRows))))

  /**
   * Applies [[RootMaintenance]] and [[VectorSpill]] to the entries that are carried over. Only leaves whose deletion
   * vectors the commit does not change are rewritten.
   */
  private def maintained(base: ParentEntries, empty: Set[String], removals: RemovedEntries): Maintained = {
    val entries = carried(base, empty, removals)
    val maintenance = new RootMaintenance(table, columns, leaves, limits, base.read(_).map(_._2))
    val unchanged = base.leaves.filter(l => !empty(l.path) && !removals.changedLeaves(l.path))
    val isTooLarge = EntrySizes.of(entries) > limits.maxRootBytes
    val rewritten = changes.rewrite.flatMap(
      maintenance.rewriteChosen(entries, unchanged, base.inline, _, earlier.flatMap(_.rewritten))
    )
    val result = rewritten match {
      case Some((replaced, rewrite)) => Maintained(replaced, Some(rewrite))
      case None =>
        val flushed = maintenance.flush(entries, isTooLarge)
        Maintained(if (changes.mergesManifests) maintenance.rewrite(flushed, unchanged) else flushed, None)
    }
    val vectorBytes = removals.vectors.iterator.map(EntrySizes.inlineBytes).sum
    result.copy(entries =
      new VectorSpill(header, output, limits, () => table.newKey()).spill(result.entries, vectorBytes, isTooLarge)
    )
  }

  /**
   * The result of [[maintained]].
   *
   * @param rewritten the rewrite of leaves that the commit requested; absent if there is none
   */
  private case class Maintained(entries: Vector[ContentEntry], rewritten: Option[RewrittenLeaves])

  /**
   * Returns the paths of the leaves without live files. An Avro manifest that lists deleted files is read if its
   * deletion vector may contain all others: the vectors of other writers may also contain the positions of deleted
   * files.
   */
  private def emptyLeaves(base: ParentEntries): Set[String] = {
    val (unclear, known) = base.leaves.partition(_.mayBeEmpty)
    val read = table.pool.map(unclear)(leaf => leaf -> table.reading(base.read(leaf).exists(_._2.isLive)))
    (known.filterNot(_.hasLiveFiles) ++ read.filterNot(_._2).map(_._1)).map(_.path).toSet
  }

  /**
   * Returns the entries of the parent that the commit carries over, with the status `existing`. Leaves without live
   * files are dropped.
   *
   * @param empty the paths of the leaves without live files
   */
  private def carried(base: ParentEntries, empty: Set[String], removals: RemovedEntries): Vector[ContentEntry] = {
    val leavesWithOldVectors = removals.changedLeaves ++ empty
    base.entries.filter {
      case e if e.content == EntryContent.ManifestVector => !leavesWithOldVectors(e.referencedFile.mkString)
      case e if e.manifest.isDefined => !empty(e.location)
      case e => !removals.contains(e)
    }.map(e => e.copy(version = e.version.copy(status = Existing)))
      .map(e => if (e.referencedFile.exists(empty) && e.manifest.isDefined) e.copy(referencedFile = None) else e)
  }
}

private[root] object RootWriter {

  /**
   * Returns the entries of a root in which the bounds of leaves with deletion vectors are not stated to be tight,
   * because the files with the lowest or the highest values may be removed.
   */
  private def withLooseBounds(root: Vector[ContentEntry]): Vector[ContentEntry] = {
    val leaves = root.filter(e => e.content == EntryContent.ManifestVector && e.isLive).flatMap(_.referencedFile).toSet
    if (leaves.isEmpty) root
    else root.map(e => if (e.manifest.isDefined && leaves(e.location)) e.copy(stats = e.stats.withLooseBounds) else e)
  }

  /**
   * Returns the sort key of an entry in a root: first added and deleted entries, then existing entries; within each of
   * these, leaves, deletion vectors of leaves, and files.
   */
  private def position(e: ContentEntry): Int = {
    val isChange = e.version.status != Existing
    val group = e.content match {
      case EntryContent.DataManifest => 0
      case EntryContent.DeleteManifest => 1
      case EntryContent.ManifestVector => 2
      case EntryContent.Data => 3
      case EntryContent.PositionDeletes => 4
      case EntryContent.EqualityDeletes => 5
    }
    if (isChange) group else group + EntryContent.all.size
  }
}

/** Assigns row ids. @param first the first row id */
final private[root] class NextRowId(first: Long) {
  private var nextId = first

  /** The next row id to be assigned. */
  def next: Long = nextId

  /** Returns the first of `count` new row ids. */
  def take(count: Long): Long = {
    val id = nextId
    nextId += count
    id
  }
}
