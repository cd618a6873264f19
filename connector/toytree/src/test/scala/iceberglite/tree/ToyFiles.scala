package iceberglite.tree

import iceberglite.spec.IcebergError
import iceberglite.spec.file.{
  Content,
  ContentFile,
  FieldSummary,
  ManifestContent,
  ManifestEntry,
  ManifestFile,
  MetricMaps,
  Metrics
}
import iceberglite.spec.file.EntryStatus.Existing
import iceberglite.spec.metadata.Snapshot
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{Literal, PrimitiveType, SingleValue}
import iceberglite.storage.FileIO

/** The files of a snapshot in the format of [[ToyTree]]. */
final private class ToyFiles(override val snapshot: Snapshot, table: TreeTable) extends SnapshotFiles {
  private val path = snapshot.manifestList.mkString

  override lazy val parts: Vector[ToyPart] = {
    val entries = ToyPart.read(table.io, path, table.specs)
    entries.map(e => (ToyPart.contentOf(e), e.file.specId)).distinct.map { case (content, specId) =>
      val partEntries = entries.filter(e => ToyPart.contentOf(e) == content && e.file.specId == specId)
      ToyPart(path, content, specId, partEntries, table.specs)
    }
  }
  override def entries(part: FilePart): Iterator[ManifestEntry] = part.entries(table.io)
  override def changedParts: Vector[FilePart] = parts.filter(changesIn(_).hasNext)
  override def changesIn(part: FilePart): Iterator[ManifestEntry] =
    entries(part).filter(e => e.status != Existing && e.snapshotId.contains(snapshot.snapshotId))
  override def reachable(seen: SeenParts): Reachable = {
    val unseen = parts.map { part =>
      part.copy(selectedKeys = Some(entries(part).map(ToyPart.key).filter(seen.add).toSet))
    }
    Reachable(Vector(path), unseen)
  }
  override def partsWrittenBy(isGiven: Long => Boolean): Vector[FilePart] =
    if (isGiven(snapshot.snapshotId)) parts else Vector.empty
  override def copyRoot(copy: TreeCopy, lengths: Map[String, Long]): Unit = {
    val copied = ToyPart.read(table.io, path, table.specs).map(entry => entry.copy(file = copy.file(entry)))
    table.io.write(copy.writePath(path), new ToyEntries(table.specs).toBytes(copied))
  }
  override def manifests: Vector[ManifestFile] = Vector.empty
}

/** The entries with the same content and partition spec, with bounds over all of their files. */
final private case class ToyPart(
    override val path: String,
    override val content: ManifestContent,
    override val specId: Int,
    specs: PartitionSpecs,
    override val liveFiles: Option[Long],
    override val sequenceNumber: Long,
    override val minSequenceNumber: Long,
    override val metrics: Metrics,
    selectedKeys: Option[Set[String]] = None
) extends FilePart {
  override def id: String = s"$path#${content.name}#$specId"
  override def length: Long = 0L
  override def recordCount: Long = ContentFile.UnknownRecords
  override def partitions: Option[Vector[FieldSummary]] = None
  override def forReading: FilePart = copy(metrics = Metrics.Empty)
  override def copyTo(table: TreeTable, copy: TreeCopy): Long = length

  override def entries(io: FileIO): Iterator[ManifestEntry] = {
    val shared = new SharedTuples
    ToyPart.read(io, path, specs).iterator
      .filter(e => ToyPart.contentOf(e) == content && e.file.specId == specId)
      .filter(e => selectedKeys.forall(_.contains(ToyPart.key(e)))).map(shared.share)
  }
  override private[tree] def cacheKey(io: FileIO): PartKey = PartKey(io, path, length, Tuple1(id))
}

private object ToyPart {
  def apply(
      path: String,
      content: ManifestContent,
      specId: Int,
      entries: Vector[ManifestEntry],
      specs: PartitionSpecs
  ): ToyPart = {
    val live = entries.filter(_.isLive)
    val numbers = live.flatMap(_.sequenceNumber)
    val (newest, oldest) = if (numbers.isEmpty) (0L, 0L) else (numbers.max, numbers.min)
    ToyPart(path, content, specId, specs, Some(live.size.toLong), newest, oldest, statistics(live, specs.sources))
  }

  def key(e: ManifestEntry): String = s"${e.file.path}#${e.file.contentOffset.mkString}"

  def contentOf(e: ManifestEntry): ManifestContent =
    if (e.file.content == Content.Data) ManifestContent.Data else ManifestContent.Deletes

  def read(io: FileIO, path: String, specs: PartitionSpecs): Vector[ManifestEntry] =
    try new ToyEntries(specs).parse(path, io.read(path))
    catch { case e: IcebergError.InvalidMetadata => throw IcebergError.UnreadableFile(path, "toy tree", e.getMessage) }

  /**
   * Computes bounds over all files, for the columns that have bounds in every file. Counts of nulls and NaNs are left
   * out, so any column may contain them.
   */
  private def statistics(live: Vector[ManifestEntry], schema: Schema): Metrics = {
    val types = schema.fields.map(f => f.id -> f.fieldType).collect { case (id, t: PrimitiveType) => id -> t }
    def bounds(boundOf: Metrics => Int => Option[java.nio.ByteBuffer], least: Boolean) =
      Some(types.flatMap { case (id, t) =>
        val values = live.map(e => boundOf(e.file.metrics)(id).flatMap(SingleValue.decodeValid(t, _)))
        if (values.isEmpty || values.exists(_.isEmpty)) None
        else {
          val sorted = values.flatten.sorted(Literal.ordering)
          Some(id -> SingleValue.encode(if (least) sorted.head else sorted.last))
        }
      }.toMap)
    MetricMaps(
      lowerBounds = bounds(m => m.lowerBound, least = true),
      upperBounds = bounds(m => m.upperBound, least = false)
    )
  }
}
