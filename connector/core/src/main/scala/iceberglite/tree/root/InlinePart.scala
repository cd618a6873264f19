package iceberglite.tree.root

import iceberglite.encryption.FileKey
import iceberglite.spec.file._
import iceberglite.storage.{EncryptedFileIO, FileIO}
import iceberglite.tree.{CloseableIterator, FilePart, PartKey, PartitionSpecs, SharedTuples}

/**
 * A part of a metadata tree whose files are listed by the root manifest itself and not by a leaf manifest. The files
 * have the same content (data or deletes) and partition spec.
 *
 * @param root the root
 * @param group the content and the partition spec of the part
 * @param loaded the entries of the part; absent on executors, which read the root
 * @param selected the keys of the entries that the part contains; absent if it contains all entries of the group
 */
final private[root] class InlinePart(
    root: InlinePart.RootFile,
    group: InlinePart.Group,
    columns: StatsColumns,
    specs: PartitionSpecs,
    summary: InlinePart.Summary,
    loaded: Option[Vector[ContentEntry]],
    selected: Option[Set[String]]
) extends FilePart {
  override def path: String = root.path
  override def length: Long = root.length
  override def content: ManifestContent = group.content
  override def specId: Int = group.specId
  override def id: String = s"$path#${content.name}#$specId"
  override def liveFiles: Option[Long] = Some(summary.liveFiles)
  override def sequenceNumber: Long = summary.sequenceNumber
  override def minSequenceNumber: Long = summary.minSequenceNumber
  override def recordCount: Long = ContentFile.UnknownRecords

  override lazy val partitions: Option[Vector[FieldSummary]] = RootManifests.guard(path)(summary.covered.flatMap {
    entries =>
      val keys = columns.keyIds(specId)
      PartitionSummaries.of(specId, StatsAggregate.of(entries, keys, keys), columns)
  })

  override lazy val metrics: Metrics = summary.covered
    .fold(Metrics.Empty)(new AggregatedMetrics(_, columns.keyIds(specId), columns))

  override def entries(io: FileIO): CloseableIterator[ManifestEntry] = RootManifests.guard(path) {
    val all = if (loaded.isDefined) pairs else converted(read(io))
    CloseableIterator.of(all.iterator.map(_._2).filter(e => selected.forall(_(InlinePart.selectionKey(e)))))
  }

  /** The loaded entries, each as an entry of version 4 and as a [[ManifestEntry]]. */
  @transient lazy val pairs: Vector[(ContentEntry, ManifestEntry)] =
    RootManifests.guard(path)(converted(loaded.getOrElse(Vector.empty)))

  private def converted(entries: Vector[ContentEntry]): Vector[(ContentEntry, ManifestEntry)] = {
    val files = new EntryFiles(columns)
    val shared = new SharedTuples
    entries.map(e => e -> shared.share(files.toEntry(e)))
  }

  private def read(io: FileIO): Vector[ContentEntry] =
    RootManifests.read(root.plain(io), path, columns, length).entries.filter(InlinePart.isIn(group))

  /** Returns the part with only the entries whose keys are given. It does not keep the other entries in memory. */
  def only(keys: Set[String]): InlinePart = {
    val kept = loaded.map(_.filter(e => keys(InlinePart.selectionKey(e))))
    val liveFiles = kept.fold(summary.liveFiles)(_.count(_.isLive).toLong)
    new InlinePart(root, group, columns, specs, summary.copy(liveFiles = liveFiles, covered = kept), kept, Some(keys))
  }

  override def forReading: FilePart =
    new InlinePart(root, group, columns, specs.only(specId), summary.copy(covered = None), None, selected)

  override private[tree] def cacheKey(io: FileIO): PartKey =
    PartKey(io, path, length, (id, specs.of(this).partitionType(specs.sources)))
}

private[root] object InlinePart {

  /**
   * A root manifest.
   *
   * @param length its length in bytes
   * @param key its key; absent if it is not encrypted
   */
  final case class RootFile(path: String, length: Long, key: Option[FileKey]) {

    /** Returns the storage for reading the root. */
    def plain(io: FileIO): FileIO = key.fold(io)(EncryptedFileIO(io, path, _))
  }

  /** The content and the partition spec of all entries of a part. */
  final case class Group(content: ManifestContent, specId: Int)

  /**
   * The number of the live entries of a part, and the sequence numbers of all entries.
   *
   * @param covered the entries that the statistics of the part cover; absent on executors. Removed files are included,
   *   because a search for the removed files of a commit also skips parts by statistics
   */
  final case class Summary(
      liveFiles: Long,
      sequenceNumber: Long,
      minSequenceNumber: Long,
      covered: Option[Vector[ContentEntry]]
  )

  /** Groups the files that a root lists itself into parts. */
  def of(
      root: RootFile,
      entries: Vector[ContentEntry],
      columns: StatsColumns,
      specs: PartitionSpecs
  ): Vector[InlinePart] = {
    val groups = entries.flatMap(e => contentOf(e.content).map(Group(_, e.specId))).distinct
    groups.map { group =>
      val own = entries.filter(isIn(group))
      val summary = summarize(own)
      new InlinePart(root, group, columns, specs, summary, Some(own), None)
    }
  }

  /**
   * Returns the key of a file: its path and content offset. The offset is needed because a Puffin file may contain
   * several deletion vectors.
   */
  def key(e: ManifestEntry): String = key(e.file.path, e.file.contentOffset)

  /** Returns the key of an entry. The entry of a live file and the entries of its removals have different keys. */
  def selectionKey(e: ManifestEntry): String = selectionKey(key(e), e.status, e.snapshotId)

  /** Returns the key of a file in an entry of a root. */
  def key(e: ContentEntry): String =
    key(e.location, e.vector.collect { case VectorContent.InPuffin(offset, _) => offset })

  private def selectionKey(e: ContentEntry): String = selectionKey(key(e), e.version.status, e.version.snapshotId)

  private def selectionKey(file: String, status: EntryStatus, snapshotId: Option[Long]): String =
    if (status == EntryStatus.Deleted) s"$file#removed#${snapshotId.mkString}" else file

  private def key(path: String, offset: Option[Long]): String = s"$path#${offset.mkString}"

  private def isIn(group: Group)(e: ContentEntry): Boolean =
    e.specId == group.specId && contentOf(e.content).contains(group.content)

  private def contentOf(content: EntryContent): Option[ManifestContent] = content match {
    case EntryContent.Data => Some(ManifestContent.Data)
    case EntryContent.PositionDeletes | EntryContent.EqualityDeletes => Some(ManifestContent.Deletes)
    case EntryContent.DataManifest | EntryContent.DeleteManifest | EntryContent.ManifestVector => None
  }

  private def summarize(entries: Vector[ContentEntry]): Summary = {
    val numbers = entries.flatMap(_.version.sequenceNumber)
    Summary(
      entries.count(_.isLive).toLong,
      if (numbers.isEmpty) 0L else numbers.max,
      if (numbers.isEmpty) 0L else numbers.min,
      Some(entries)
    )
  }
}
