package iceberglite.tree

import com.fasterxml.jackson.core.JsonGenerator

import iceberglite.spec.FormatVersion
import iceberglite.spec.file.{Content, ContentFile, EntryStatus, ManifestEntry}
import iceberglite.spec.file.EntryStatus.{Added, Deleted, Existing}
import iceberglite.spec.json.{ContentFileJson, JsonFormat, JsonValue}
import iceberglite.spec.metadata.Snapshot
import iceberglite.tree.manifestlist.{AddedFileCheck, RowIdAssigner}

/**
 * A format of metadata trees for tests only. One JSON file contains all entries of a snapshot, in tables of any format
 * version. Tests with this format show that only the package `iceberglite.tree` depends on manifests.
 */
object ToyTree extends MetadataTree {
  private val Extension = ".toy.json"

  override def canRead(path: String, head: => Array[Byte]): Boolean = path.endsWith(Extension)

  override def canWrite(version: FormatVersion): Boolean = true

  override def at(snapshot: Snapshot, table: TreeTable, cache: ManifestCache): SnapshotFiles =
    new ToyFiles(snapshot, table)

  override def write(
      header: NewSnapshotHeader,
      table: TreeTable,
      parent: Option[SnapshotFiles],
      changes: FileChanges,
      earlier: Option[WrittenTree],
      cache: ManifestCache
  ): WrittenTree = {
    val added = (changes.added.map(OlderFile(_, header.sequenceNumber)) ++ changes.addedOlder).map(newEntry(_, header))
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
    val writer = new ParallelWriter(table.io, header.metadataPath, table.pool)
    writer.complete(writer.write(path, new ToyEntries(table.specs).toBytes(entries)))
    val files = entries.map(_.file)
    val addedRows = header.firstRowId.map(id => files.filter(_.firstRowId.exists(_ >= id)).map(_.recordCount).sum)
    WrittenToy(path, changes.allAdded, removed, addedRows)
  }

  private def newEntry(added: OlderFile, header: NewSnapshotHeader): ManifestEntry = {
    val file = added.file.copy(firstRowId = None)
    ManifestEntry(Added, Some(header.snapshotId), Some(added.sequenceNumber), Some(header.sequenceNumber), file)
  }

  private def isData(entry: ManifestEntry): Boolean = entry.file.content == Content.Data
}

final private case class WrittenToy(
    override val pointer: String,
    override val added: Vector[ContentFile],
    override val removed: Vector[ManifestEntry],
    override val addedRows: Option[Long]
) extends WrittenTree {
  override def written: Vector[String] = Vector(pointer)
}

/** The JSON format of the entries in the file of a snapshot. */
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
