package iceberglite.tree

import java.nio.ByteBuffer

import iceberglite.spec.IcebergError
import iceberglite.spec.file._
import iceberglite.spec.metadata.Snapshot
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{Literal, PrimitiveType, SingleValue}
import iceberglite.storage.FileIO

/** The files of a snapshot in the format of [[ToyTree]]. */
final private class ToyFiles(override val snapshot: Snapshot, table: TreeTable) extends SnapshotFiles {
  private val path = snapshot.manifestList.mkString

  override lazy val parts: Vector[ToyPart] = {
    val all = ToyPart.read(table.io, path, table.specs)
    all.map(ToyPart.kindOf).distinct.map { kind =>
      val live = all.filter(e => e.isLive && ToyPart.kindOf(e) == kind)
      val numbers = live.flatMap(_.sequenceNumber).sorted
      val (oldest, newest) = (numbers.headOption.getOrElse(0L), numbers.lastOption.getOrElse(0L))
      val statistics = ToyPart.statistics(live, table.specs.sources)
      ToyPart(path, kind, table.specs, Some(live.size.toLong), newest, oldest, statistics)
    }
  }
  override def entries(part: FilePart): CloseableIterator[ManifestEntry] = part.entries(table.io)
  override def reachable(seen: SeenParts): Reachable = {
    def unseen(part: ToyPart) = entries(part).map(ToyPart.key).filter(seen.add).toSet
    Reachable(Vector(path), parts.map(part => part.copy(selectedKeys = Some(unseen(part)))))
  }
  override def partsWrittenBy(isGiven: Long => Boolean): Vector[FilePart] =
    if (isGiven(snapshot.snapshotId)) parts else Vector.empty
  override def copyRoot(copy: TreeCopy, lengths: Map[String, Long]): Unit = {
    val copied = ToyPart.read(table.io, path, table.specs).map(entry => entry.copy(file = copy.file(entry)))
    table.io.write(copy.writePath(path), new ToyEntries(table.specs).toBytes(copied))
  }
}

/** A part of the tree: the entries with the same content and partition spec, and column bounds over all their files. */
final private case class ToyPart(
    override val path: String,
    kind: (ManifestContent, Int),
    specs: PartitionSpecs,
    override val liveFiles: Option[Long],
    override val sequenceNumber: Long,
    override val minSequenceNumber: Long,
    override val metrics: Metrics,
    selectedKeys: Option[Set[String]] = None
) extends FilePart {
  override def id: String = s"$path#${content.name}#$specId"
  override def content: ManifestContent = kind._1
  override def specId: Int = kind._2
  override def length: Long = 0L
  override def recordCount: Long = ContentFile.UnknownRecords
  override def partitions: Option[Vector[FieldSummary]] = None

  override def entries(io: FileIO): CloseableIterator[ManifestEntry] = {
    val shared = new SharedTuples
    CloseableIterator.of(ToyPart.read(io, path, specs).iterator).filter(ToyPart.kindOf(_) == kind)
      .filter(e => selectedKeys.forall(_.contains(ToyPart.key(e)))).map(shared.share)
  }
  override private[tree] def cacheKey(io: FileIO): PartKey = PartKey(io, path, length, Tuple1(id))
}

private object ToyPart {
  def key(e: ManifestEntry): String = s"${e.file.path}#${e.file.contentOffset.mkString}"

  def kindOf(e: ManifestEntry): (ManifestContent, Int) =
    (if (e.file.content == Content.Data) ManifestContent.Data else ManifestContent.Deletes, e.file.specId)

  def read(io: FileIO, path: String, specs: PartitionSpecs): Vector[ManifestEntry] =
    try new ToyEntries(specs).parse(path, io.read(path))
    catch { case e: IcebergError.InvalidMetadata => throw IcebergError.UnreadableFile(path, "toy tree", e.getMessage) }

  /**
   * Computes the bounds of each column over all files, if the column has bounds in every file. The result has no counts
   * of nulls and NaN values, so readers must assume that every column may contain them.
   */
  def statistics(live: Vector[ManifestEntry], schema: Schema): Metrics = {
    val types = schema.fields.map(f => f.id -> f.fieldType).collect { case (id, t: PrimitiveType) => id -> t }
    def bounds(boundOf: Metrics => Int => Option[ByteBuffer], choose: Vector[Literal] => Literal) = Some((for {
      (id, t) <- types
      values = live.map(e => boundOf(e.file.metrics)(id).flatMap(SingleValue.decodeValid(t, _)))
      if values.nonEmpty && values.forall(_.isDefined)
    } yield id -> SingleValue.encode(choose(values.flatten))).toMap)
    val lower = bounds(m => m.lowerBound, _.min(Literal.ordering))
    MetricMaps(lowerBounds = lower, upperBounds = bounds(m => m.upperBound, _.max(Literal.ordering)))
  }
}
