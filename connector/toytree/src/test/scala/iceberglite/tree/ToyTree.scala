package iceberglite.tree

import com.fasterxml.jackson.core.JsonGenerator

import iceberglite.spec.{FormatVersion, IcebergError}
import iceberglite.spec.file.{
  Content,
  ContentFile,
  EntryStatus,
  FieldSummary,
  ManifestContent,
  ManifestEntry,
  ManifestFile,
  MetricMaps,
  Metrics
}
import iceberglite.spec.file.EntryStatus.{Added, Deleted, Existing}
import iceberglite.spec.json.{ContentFileJson, JsonFormat, JsonValue}
import iceberglite.spec.metadata.Snapshot
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{Literal, PrimitiveType, SingleValue}
import iceberglite.storage.FileIO
import iceberglite.tree.manifestlist.{AddedFileCheck, RowIdAssigner}

/**
 * A tree format for tests only: all entries of a snapshot are in one JSON file, for tables of any version. The tests
 * with this format show that code outside the tree does not depend on manifests.
 */
object ToyTree extends MetadataTree {
  private val Extension = ".toy.json"

  override def canRead(path: String, head: => Array[Byte]): Boolean = path.endsWith(Extension)

  override def canWrite(version: FormatVersion): Boolean = true

  override def at(snapshot: Snapshot, table: TreeTable, cache: ManifestCache): SnapshotFiles =
    new ToyFiles(snapshot, table)

  override def write(
      header: TreeHeader,
      table: TreeTable,
      parent: Option[SnapshotFiles],
      changes: FileChanges,
      earlier: Option[WrittenTree],
      cache: ManifestCache
  ): WrittenTree = {
    val added = changes.added.map(newEntry(_, None, header)) ++
      changes.addedOlder.map(older => newEntry(older.file, Some(older.sequenceNumber), header))
    added.foreach(AddedFileCheck.check(_, header, table))
    val live = for {
      files <- parent.toVector
      part <- files.parts
      entry <- files.entries(part) if entry.isLive
    } yield entry -> (changes.remove.mightMatch(part) && changes.remove.removes(entry))
    val (removedData, data) = live.filter(e => isData(e._1)).partition(_._2)
    val numbers = (data.map(_._1) ++ added.filter(isData)).flatMap(_.sequenceNumber)
    val obsolete = new RemovedDataFiles(removedData.map(_._1.file.path).toSet, (numbers :+ header.sequenceNumber).min)
    val (removals, kept) = live.partition { case (e, isRemoved) => isRemoved || obsolete.makesObsolete(e) }
    if (header.firstRowId.isDefined) kept.map(_._1).filter(isData).foreach(e => AddedFileCheck.checkExisting(e.file))
    val removed = removals.map(_._1)
    val deleted = removed.map(_.copy(status = Deleted, snapshotId = Some(header.snapshotId)))
    val rowIds = new RowIdAssigner(header.firstRowId)
    val entries = (added ++ kept.map(_._1.copy(status = Existing)) ++ deleted).map(rowIds.assign)
    val path = s"${header.metadataPath}/${header.snapshotId}-${header.attempt}-${header.commitId}$Extension"
    try table.io.write(path, new ToyEntries(table.specs).toBytes(entries))
    catch {
      case failure: Throwable =>
        try table.io.delete(path)
        catch { case other: Exception => failure.addSuppressed(other) }
        throw failure
    }
    WrittenToy(path, header, changes.allAdded, removed, entries)
  }

  private def newEntry(file: ContentFile, number: Option[Long], header: TreeHeader): ManifestEntry = {
    val assigned = Some(header.sequenceNumber)
    ManifestEntry(Added, Some(header.snapshotId), number.orElse(assigned), assigned, file.copy(firstRowId = None))
  }

  private def isData(entry: ManifestEntry): Boolean = entry.file.content == Content.Data
}

final private case class WrittenToy(
    override val pointer: String,
    header: TreeHeader,
    override val added: Vector[ContentFile],
    override val removed: Vector[ManifestEntry],
    entries: Vector[ManifestEntry]
) extends WrittenTree {
  override def addedRows: Option[Long] = header.firstRowId.map { first =>
    entries.flatMap(e => e.file.firstRowId.filter(_ >= first).map(_ => e.file.recordCount)).sum
  }
  override def changesFiles: Boolean = added.nonEmpty || removed.nonEmpty
  override def written: Vector[String] = Vector(pointer)
  override def references: Set[String] = Set(pointer)
  override def summary: Map[String, String] = Map.empty
}

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

/** Reads and writes the entries of a tree file as JSON. */
final private class ToyEntries(specs: PartitionSpecs) extends JsonFormat[Vector[ManifestEntry]] {
  private val files = new ContentFileJson(specs.byId, specs.sources)

  override def read(json: JsonValue): Vector[ManifestEntry] = json.map { e =>
    val status = EntryStatus.all.find(_.code == e.int("status")).getOrElse(e.fail("The status of the entry is unknown"))
    val numbers = (e.optionalLong("sequence-number"), e.optionalLong("file-sequence-number"))
    ManifestEntry(status, e.optionalLong("snapshot-id"), numbers._1, numbers._2, files.read(e("file")))
  }

  override def write(entries: Vector[ManifestEntry], out: JsonGenerator): Unit = {
    out.writeStartArray()
    entries.foreach { e =>
      out.writeStartObject()
      out.writeNumberField("status", e.status.code)
      e.snapshotId.foreach(out.writeNumberField("snapshot-id", _))
      e.sequenceNumber.foreach(out.writeNumberField("sequence-number", _))
      e.fileSequenceNumber.foreach(out.writeNumberField("file-sequence-number", _))
      out.writeFieldName("file")
      files.write(e.file, out)
      out.writeEndObject()
    }
    out.writeEndArray()
  }
}
