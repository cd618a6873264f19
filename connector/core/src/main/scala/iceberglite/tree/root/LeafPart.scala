package iceberglite.tree.root

import java.util.zip.CRC32

import iceberglite.puffin.DeletionVector
import iceberglite.spec.file._
import iceberglite.storage.FileIO
import iceberglite.tree.{FilePart, PartKey, PartitionSpecs, SharedTuples, TreeCopy, TreeTable}
import iceberglite.tree.manifestlist.{ManifestPart, Manifests, RowIdAssigner}

/**
 * A leaf manifest as a part of a metadata tree, without the entries that its deletion vector removes.
 *
 * @param leaf the entry of the manifest in the root
 * @param removed the bytes of the manifest's deletion vector; empty if it has none
 */
final private[root] class LeafPart(
    val leaf: ContentEntry,
    removed: Array[Byte],
    columns: StatsColumns,
    specs: PartitionSpecs
) extends FilePart {
  private val stats: ManifestStats = leaf.manifest.getOrElse(
    throw EntryFault(s"The entry of the manifest ${leaf.location} has no manifest_stats")
  )

  /** The positions of the entries that the manifest's deletion vector removes. */
  @transient lazy val vector: DeletionVector =
    if (removed.isEmpty) DeletionVector.Empty else DeletionVector.parse(path, path, removed)

  override def path: String = leaf.location

  override def id: String = if (removed.isEmpty) path else s"$path#$checksum"

  private def checksum: String = {
    val crc = new CRC32
    crc.update(removed)
    s"${vector.cardinality}-${java.lang.Long.toHexString(crc.getValue)}"
  }

  override def content: ManifestContent =
    if (leaf.content == EntryContent.DataManifest) ManifestContent.Data else ManifestContent.Deletes
  override def specId: Int = leaf.specId
  override def length: Long = leaf.fileSizeInBytes.getOrElse(0L)
  override def liveFiles: Option[Long] =
    Some(math.max(0L, stats.addedFiles.toLong + stats.existingFiles - vector.cardinality))
  override def sequenceNumber: Long = leaf.version.sequenceNumber.getOrElse(0L)
  override def minSequenceNumber: Long = stats.minSequenceNumber
  override def recordCount: Long = ContentFile.UnknownRecords
  override lazy val partitions: Option[Vector[FieldSummary]] = PartitionSummaries.of(leaf.specId, leaf.stats, columns)
  override lazy val metrics: Metrics =
    EntryFiles.metrics(leaf.stats.byId.filterKeys(id => columns.byId.get(id).exists(_.isColumn)))

  override def entries(io: FileIO): Iterator[ManifestEntry] = positioned(io).map(_._2)

  /** Whether the manifest has the columns of version 4. */
  def isColumnar: Boolean = leaf.format != FileFormat.Avro

  /** Reads the entries that the deletion vector does not remove, with their positions in the file. */
  def positioned(io: FileIO): Iterator[(Long, ManifestEntry)] = select(io, !vector.isDeleted(_))

  /** Reads the entries at the given positions, even if the deletion vector removes them. */
  def at(io: FileIO, positions: DeletionVector): Iterator[ManifestEntry] = select(io, positions.isDeleted).map(_._2)

  /**
   * Reads the entries at the selected positions. Row ids are assigned before entries are dropped, because the first row
   * id of a file depends on all files before it.
   */
  private def select(io: FileIO, isSelected: Long => Boolean): Iterator[(Long, ManifestEntry)] = {
    val shared = new SharedTuples
    all(io).zipWithIndex.collect { case (e, i) if isSelected(i.toLong) => i.toLong -> shared.share(e) }
  }

  private def all(io: FileIO): Iterator[ManifestEntry] = leaf.format match {
    case FileFormat.Avro => Manifests.read(io, LeafUpgrade.manifest(leaf, stats), specs.byId, specs.sources)
    case _ => readLeaf(io).iterator
  }

  private def readLeaf(io: FileIO): Vector[ManifestEntry] = RootManifests.guard(path) {
    val found = contents(io)
    val files = new EntryFiles(columns)
    val rowIds = new RowIdAssigner(leaf.firstRowId)
    found.entries.map(e => rowIds.assign(files.toEntry(inherit(e))))
  }

  /**
   * Reads a leaf with the columns of version 4, with only the values that the file contains.
   *
   * @throws EntryFault if the file is not the leaf that the root describes
   */
  def contents(io: FileIO): RootManifests.Contents = {
    val found = RootManifests.read(io, path, columns)
    val expected = if (content == ManifestContent.Data) ManifestKind.DataLeaf else ManifestKind.DeleteLeaf
    if (found.kind != expected)
      throw EntryFault(
        s"The root lists the file as a ${expected.name} manifest, but it is a ${found.kind.name} manifest"
      )
    if (found.entries.size.toLong != leaf.recordCount)
      throw EntryFault(s"The root states ${leaf.recordCount} entries, but the manifest has ${found.entries.size}")
    found
  }

  /** Returns the entry with the values that it inherits from the manifest's entry in the root. */
  def inherit(e: ContentEntry): ContentEntry = {
    val (own, parent) = (e.version, leaf.version)
    e.copy(version =
      own.copy(
        snapshotId = own.snapshotId.orElse(parent.snapshotId),
        sequenceNumber = own.sequenceNumber.orElse(parent.sequenceNumber),
        fileSequenceNumber = own.fileSequenceNumber.orElse(parent.fileSequenceNumber)
      )
    )
  }

  override def copyTo(table: TreeTable, copy: TreeCopy): Long =
    if (isColumnar) new RootCopy(table.io, columns, copy).writeLeaf(this)
    else new ManifestPart(LeafUpgrade.manifest(leaf, stats), specs).copyTo(table, copy)

  override def forReading: FilePart =
    new LeafPart(leaf.copy(stats = ContentStats.Empty, keyMetadata = None), removed, columns, specs.only(specId))

  override private[tree] def cacheKey(io: FileIO): PartKey =
    PartKey(io, path, length, (id, sequenceNumber, leaf.firstRowId, specs.of(this).partitionType(specs.sources)))
}
