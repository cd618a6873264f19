package iceberglite.tree.root

import java.util.zip.CRC32

import iceberglite.encryption.FileKey
import iceberglite.puffin.DeletionVector
import iceberglite.spec.file._
import iceberglite.storage.{EncryptedFileIO, FileIO}
import iceberglite.tree.{CloseableIterator, FilePart, PartKey, PartitionSpecs, SharedTuples, TreeCopy, TreeTable}
import iceberglite.tree.manifestlist.{ManifestPart, Manifests, RowIdAssigner}

/**
 * A leaf manifest as a part of a metadata tree, without the entries that its deletion vector removes.
 *
 * @param leaf the entry of the manifest in the root
 * @param removed the bytes of the manifest's deletion vector; empty if it has none
 * @param chosen the bytes of a deletion vector with the positions of the entries that the part lists; absent if it
 *   lists all entries that are not removed
 * @param taskKey the key of an encrypted manifest, only in a task, because the entry in a task has no key metadata
 * @param dataPart see [[FilePart.dataPart]]; absent in parts that are derived from this part
 */
final private[root] class LeafPart(
    val leaf: ContentEntry,
    removed: Array[Byte],
    columns: StatsColumns,
    specs: PartitionSpecs,
    chosen: Option[Array[Byte]] = None,
    taskKey: Option[FileKey] = None,
    override val dataPart: Option[String] = None
) extends FilePart {

  /** The counts of the entries in the file. */
  val stats: ManifestStats = leaf.manifest.getOrElse(
    throw EntryFault(s"The entry of the manifest ${leaf.location} has no manifest_stats")
  )

  /** The positions of the entries that the manifest's deletion vector removes. */
  @transient lazy val vector: DeletionVector =
    if (removed.isEmpty) DeletionVector.Empty else DeletionVector.parse(path, path, removed)

  @transient private lazy val selected: Option[DeletionVector] = chosen.map(DeletionVector.parse(path, path, _))

  override def path: String = leaf.location

  private def key: Option[FileKey] = taskKey.orElse(leaf.keyMetadata.map(FileKey.decode(path, _)))

  /** Returns the storage for reading the manifest, which may be encrypted. */
  private def plain(io: FileIO): FileIO = key.fold(io)(EncryptedFileIO(io, path, _))

  override def id: String = (removed +: chosen.toVector).filter(_.nonEmpty).map(checksum) match {
    case Vector() => path
    case checksums => checksums.mkString(s"$path#", "#", "")
  }

  private def checksum(bytes: Array[Byte]): String = {
    val crc = new CRC32
    crc.update(bytes)
    s"${bytes.length}-${java.lang.Long.toHexString(crc.getValue)}"
  }

  override def content: ManifestContent =
    if (leaf.content == EntryContent.DataManifest) ManifestContent.Data else ManifestContent.Deletes
  override def specId: Int = leaf.specId
  override def length: Long = leaf.fileSizeInBytes.getOrElse(0L)

  /**
   * The number of live files. It is unknown if the deletion vector may contain positions of entries with the status
   * `deleted`, which Avro manifests may have and other writers may add to the vector.
   */
  override def liveFiles: Option[Long] = Some(maxLiveFiles).filter(_ => maxRemaining == minRemaining)

  /** The number of live files or, if it is unknown, the highest possible number. */
  override def estimatedLiveFiles: Long = maxLiveFiles

  private def maxLiveFiles: Long = selected.fold(maxRemaining)(s => math.min(maxRemaining, s.cardinality))

  /** Whether the number of live files is unknown and may be 0. */
  def mayBeEmpty: Boolean = liveFiles.isEmpty && minRemaining == 0L

  /** The number of entries in the file that are not deleted. */
  private def listedFiles: Long = stats.addedFiles.toLong + stats.existingFiles

  /** The bounds of the number of live files, regardless of the chosen positions. */
  private def minRemaining: Long = math.max(0L, listedFiles - vector.cardinality)
  private def maxRemaining: Long = math.min(listedFiles, math.max(0L, leaf.recordCount - vector.cardinality))
  override def sequenceNumber: Long = leaf.version.sequenceNumber.getOrElse(0L)
  override def minSequenceNumber: Long = stats.minSequenceNumber
  override def recordCount: Long = ContentFile.UnknownRecords
  override lazy val partitions: Option[Vector[FieldSummary]] = PartitionSummaries.of(leaf.specId, leaf.stats, columns)
  override lazy val metrics: Metrics = columns.metrics(leaf.stats)

  override def entries(io: FileIO): CloseableIterator[ManifestEntry] = listed(allEntries(io))

  /** Whether the manifest has the columns of version 4. */
  def isColumnar: Boolean = leaf.format != FileFormat.Avro

  override def isOutdated: Boolean = !isColumnar

  /** Returns a part that lists only the entries at the given positions that are not removed. */
  def only(positions: DeletionVector): LeafPart =
    new LeafPart(leaf, removed, columns, specs, Some(positions.toBytes), taskKey)

  /** Returns a part that lists all entries of the file, including those that the deletion vector removes. */
  override def whole: LeafPart =
    if (removed.isEmpty && chosen.isEmpty) this
    else new LeafPart(leaf, Array.emptyByteArray, columns, specs, None, taskKey)

  /**
   * Returns the entries that the part lists, with their positions in the file.
   *
   * @param entries all entries of the file; see [[allEntries]]
   */
  def positioned(entries: CloseableIterator[ManifestEntry]): CloseableIterator[(Long, ManifestEntry)] =
    entries.zipWithIndex.collect { case (e, i) if lists(i.toLong) => i.toLong -> e }

  /** Returns the entries that the part lists. @param entries all entries of the file; see [[allEntries]] */
  def listed(entries: CloseableIterator[ManifestEntry]): CloseableIterator[ManifestEntry] =
    if (removed.isEmpty && chosen.isEmpty) entries
    else {
      var position = -1L
      entries.filter { _ =>
        position += 1
        lists(position)
      }
    }

  private def lists(position: Long): Boolean =
    !vector.isDeleted(position) && selected.forall(_.isDeleted(position))

  /** Reads the entries at the given positions, even if the deletion vector removes them. */
  def entriesAt(io: FileIO, positions: DeletionVector): CloseableIterator[ManifestEntry] =
    allEntries(io).zipWithIndex.collect { case (e, i) if positions.isDeleted(i.toLong) => e }

  /**
   * Reads all entries of the file, including those that the deletion vector removes, with their inherited values. Row
   * ids are assigned before entries are dropped, because the first row id of a file depends on all files before it.
   */
  def allEntries(io: FileIO): CloseableIterator[ManifestEntry] = leaf.format match {
    case FileFormat.Avro =>
      val shared = new SharedTuples
      Manifests.read(io, LeafUpgrade.manifest(leaf, stats), key, specs.byId, specs.sources).map(shared.share)
    case _ => readLeaf(plain(io))
  }

  /**
   * Reads the entries of a leaf with the columns of version 4. If the leaf is short, its bytes are in memory as long as
   * one of the entries is used, because the statistics of a column are decoded when they are first requested.
   * Otherwise, all statistics are decoded, and only the current entry is in memory.
   */
  private def readLeaf(io: FileIO): CloseableIterator[ManifestEntry] = {
    val files = new EntryFiles(columns)
    val partitions = new files.Partitions
    val rowIds = new RowIdAssigner(leaf.firstRowId)
    def entryOf(e: ContentEntry, metrics: Metrics): ManifestEntry = {
      val firstRowId = rowIds.firstRowId(e.content == EntryContent.Data && e.isLive, e.firstRowId, e.recordCount)
      files.toEntry(e, e.version.inheriting(leaf.version), partitions.of(e), metrics, firstRowId)
    }
    RootManifests.load(io, path, length).fold(
      RootManifests.stream(io, path, columns, length, checkKind)(counted(_).map(e => entryOf(e, files.metricsOf(e))))
    ) { file =>
      val statistics = new LeafStatistics(path, file.open(_), columns.in(file.types))
      var row = -1
      RootManifests.stream(path, file, columns.ofPartitions, checkKind)(counted(_).map { e =>
        row += 1
        entryOf(e, statistics.metrics(row, columns.identities(e.specId)))
      })
    }
  }

  /**
   * Reads a leaf with the columns of version 4, including the entries that the deletion vector removes. Values that
   * entries inherit from the root, such as sequence numbers, are not filled in.
   *
   * @throws EntryFault if the file is not the leaf that the root describes
   */
  def contents(io: FileIO): RootManifests.Contents = {
    val found = RootManifests.read(plain(io), path, columns, length)
    checkKind(found.kind)
    found.copy(entries = counted(found.entries.iterator).toVector)
  }

  /** Reads the same entries as [[contents]], one after the other. Inherited values are not filled in. */
  def storedEntries(io: FileIO): CloseableIterator[ContentEntry] =
    RootManifests.stream(plain(io), path, columns, length, checkKind)(counted)

  private def checkKind(kind: ManifestKind): Unit = {
    val expected = if (content == ManifestContent.Data) ManifestKind.DataLeaf else ManifestKind.DeleteLeaf
    if (kind != expected)
      throw EntryFault(s"The root lists the file as a ${expected.name} manifest, but it is a ${kind.name} manifest")
  }

  /** Checks, while the entries are read, that the file has as many entries as the root states. */
  private def counted(entries: Iterator[ContentEntry]): Iterator[ContentEntry] = new Iterator[ContentEntry] {
    private var count = 0L

    override def hasNext: Boolean = {
      val more = entries.hasNext
      if (more == (count >= leaf.recordCount)) {
        val found = if (more) s"more than $count" else s"only $count"
        throw EntryFault(s"The root states ${leaf.recordCount} entries, but the manifest has $found")
      }
      more
    }

    override def next(): ContentEntry = {
      count += 1
      entries.next()
    }
  }

  /**
   * Returns the entry with the snapshot id and the sequence numbers that it inherits from the manifest's entry in the
   * root.
   */
  def inherit(e: ContentEntry): ContentEntry = e.copy(version = e.version.inheriting(leaf.version))

  override def copyTo(table: TreeTable, copy: TreeCopy): Long = {
    val files = if (removed.isEmpty) copy else new CopyWithRemovedFiles(copy, entriesAt(table.io, vector))
    if (isColumnar) new RootCopy(table.io, columns, files).writeLeaf(this)
    else new ManifestPart(LeafUpgrade.manifest(leaf, stats), specs).copyTo(table, files)
  }

  override def forReading: LeafPart = {
    val described = leaf.copy(stats = ContentStats.Empty, keyMetadata = None)
    new LeafPart(described, removed, columns, specs.only(specId), chosen, key)
  }

  /** Returns the key of all entries in the file. It does not depend on the deletion vector of the leaf. */
  override private[tree] def cacheKey(io: FileIO): PartKey = PartKey(
    io,
    path,
    length,
    (leaf.version.snapshotId, sequenceNumber, leaf.firstRowId, specs.of(this).partitionType(specs.sources))
  )
}
