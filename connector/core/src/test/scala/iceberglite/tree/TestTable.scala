package iceberglite.tree

import java.util.UUID

import iceberglite.spec.TestMetadata
import iceberglite.spec.TestMetadata._
import iceberglite.spec.{FormatVersion, IcebergError}
import iceberglite.spec.file.{
  Content,
  ContentFile,
  EntryStatus,
  FileFormat,
  ManifestContent,
  ManifestEntry,
  ManifestFile,
  Metrics,
  PartSummary
}
import iceberglite.spec.metadata.{Operation, Snapshot, SnapshotLogEntry, SnapshotRef, TableMetadata}
import iceberglite.spec.partition.{PartitionSpec, PartitionTuple, TableExpression}
import iceberglite.spec.schema.Schema
import iceberglite.table.{Change, Committer, Table, TableIdentifier, TableVersion}
import iceberglite.tree.manifestlist.{ManifestLists, Manifests, WrittenManifestList}
import iceberglite.tree.manifestlist.{ManifestHeader, ManifestListHeader}

/** A table whose metadata exists only in memory. A commit writes only the metadata tree of the new snapshot. */
final class TestTable(
    schema: Schema,
    specs: Vector[PartitionSpec] = Vector(PartitionSpec.Unpartitioned),
    version: FormatVersion = DefaultVersion.version,
    properties: Map[String, String] = Map.empty,
    cache: ManifestCache = ManifestCache.Disabled,
    val io: CountingMemoryIO = new CountingMemoryIO
) {
  var metadata: TableMetadata = TestMetadata(schema, specs, version, properties = properties)

  /** Reads and writes the files of the metadata trees. */
  var pool: MetadataPool = MetadataPool

  def tree: TreeTable = TreeTable("lite.db.t", io, metadata).copy(pool = pool)

  def reader: TreeReader = new TreeReader(io, metadata, cache)

  /** Opens the metadata tree of the current snapshot. */
  def files: Option[SnapshotFiles] = metadata.currentSnapshot.map(MetadataTree.at(_, tree, cache))

  def table: Table = new Table(
    TableIdentifier(Vector("db"), "t"),
    "lite.db.t",
    TableVersion(metadata, "mem:/t/metadata/v1.metadata.json"),
    io,
    TestTable.NoCommitter
  )

  def manifests: Vector[ManifestFile] = files.toVector.flatMap(_.manifests)

  def entries: Vector[ManifestEntry] = files.toVector.flatMap(f => f.parts.flatMap(f.entries))

  def live: Vector[ManifestEntry] = entries.filter(_.isLive)

  def header(attempt: Int = 0): NewSnapshotHeader = {
    val id = metadata.snapshots.size + 1L
    NewSnapshotHeader(
      id,
      metadata.currentSnapshot,
      if (metadata.formatVersion == FormatVersion.V1) 0 else metadata.lastSequenceNumber + 1,
      if (metadata.formatVersion >= FormatVersion.V3) Some(metadata.nextRowId) else None,
      "mem:/t/metadata",
      new UUID(7, id),
      attempt
    )
  }

  def commit(added: Vector[ContentFile], remove: FileSelector = FileSelector.NoFiles): WrittenTree = {
    val written = write(header(), FileChanges(added, remove))
    adopt(written)
    written
  }

  /** Writes the metadata tree of a snapshot, without a commit. The tree may reuse files of an earlier attempt. */
  def write(header: NewSnapshotHeader, changes: FileChanges, earlier: Option[WrittenTree] = None): WrittenTree =
    MetadataTree.write(header, tree, changes, earlier, cache)

  def append(added: ContentFile*): WrittenTree = commit(added.toVector)

  /**
   * Commits an overwrite whose only manifest has exactly the given entries, even if they are unusual, as another engine
   * may do.
   *
   * @param entryParts status, snapshot id and file of each entry
   */
  def overwrite(entryParts: (EntryStatus, Long, ContentFile)*): Unit = {
    val id = metadata.snapshots.size + 1L
    val entries = entryParts.map { case (status, snapshotId, file) =>
      val number = Some(snapshotId).filter(_ => status != EntryStatus.Added)
      ManifestEntry(status, Some(snapshotId), number, Some(snapshotId), file)
    }
    val (list, path) = (s"mem:/t/metadata/list-$id.avro", s"mem:/t/metadata/m-$id.avro")
    val (data, spec) = (ManifestContent.Data, metadata.spec)
    val manifest = Manifests.write(
      io,
      path,
      ManifestHeader(FormatVersion.V2, data, metadata.schema, spec, id),
      entries.iterator
    )
    ManifestLists.write(io, list, ManifestListHeader(FormatVersion.V2, id, Some(id - 1), id, None), Vector(manifest))
    val (parent, summary) = (Some(id - 1).filter(_ > 0), Map("operation" -> "overwrite"))
    setCurrent(Snapshot(id, parent, id, id, Some(list), Vector.empty, summary, Some(0)))
  }

  /**
   * Upgrades the table to the [[DefaultVersion]] and commits a snapshot without changes, if the table has a lower
   * version. Its snapshots before the upgrade may have files that the version does not allow in new snapshots.
   */
  def upgrade(): Unit = if (metadata.formatVersion < DefaultVersion.version) {
    metadata = metadata.edited(
      formatVersion = DefaultVersion.version,
      expressions = TableExpression.complete(metadata.specs, Vector.empty, metadata.lastColumnId)
    )
    append()
    ()
  }

  /** Adds a snapshot with the written tree, and makes it the current snapshot. */
  def adopt(written: WrittenTree): Unit = {
    val h = header()
    val snapshot = Snapshot(
      h.snapshotId,
      h.parent.map(_.snapshotId),
      h.sequenceNumber,
      1000L * h.snapshotId,
      Some(written.pointer),
      Vector.empty,
      Map(Snapshot.OperationKey -> Operation.Append.name, "added-data-files" -> written.added.size.toString),
      Some(metadata.currentSchemaId),
      h.firstRowId,
      written.addedRows
    )
    setCurrent(snapshot)
  }

  def setCurrent(snapshot: Snapshot): Unit = metadata = metadata.edited(
    lastSequenceNumber = math.max(metadata.lastSequenceNumber, snapshot.sequenceNumber),
    currentSnapshotId = Some(snapshot.snapshotId),
    snapshots = metadata.snapshots :+ snapshot,
    snapshotLog = metadata.snapshotLog :+ SnapshotLogEntry(snapshot.timestampMs, snapshot.snapshotId),
    refs = metadata.refs + (SnapshotRef.Main -> SnapshotRef.Branch(snapshot.snapshotId)),
    nextRowId = metadata.nextRowId + snapshot.addedRows.getOrElse(0L)
  )
}

object TestTable {
  private object NoCommitter extends Committer {
    override def commit(id: TableIdentifier, base: Option[TableVersion], change: Change): TableVersion =
      throw IcebergError.Unsupported(s"a commit to $id", "This table is read-only")
    override def load(id: TableIdentifier): TableVersion =
      throw IcebergError.Unsupported(s"loading $id", "The table has no catalog")
  }

  def file(
      name: String,
      partition: PartitionTuple = PartitionTuple.Empty,
      specId: Int = 0,
      records: Long = 10,
      size: Long = 1000,
      metrics: Metrics = Metrics.Empty,
      splitOffsets: Vector[Long] = Vector.empty
  ): ContentFile = ContentFile(
    Content.Data,
    s"mem:/t/data/$name.parquet",
    FileFormat.Parquet,
    specId,
    partition,
    records,
    size,
    metrics,
    splitOffsets = splitOffsets
  )

  def positionDeletes(
      name: String,
      of: Option[String] = None,
      partition: PartitionTuple = PartitionTuple.Empty
  ): ContentFile =
    file(name, partition).copy(content = Content.PositionDeletes, referencedDataFile = of.map(file(_).path))

  def equalityDeletes(name: String, partition: PartitionTuple = PartitionTuple.Empty, specId: Int = 0): ContentFile =
    file(name, partition, specId).copy(content = Content.EqualityDeletes, equalityIds = Vector(1))

  /** Returns a selector with which a commit removes the files with the given names. */
  def removing(names: String*): FileSelector = new FileSelector {
    private val paths = names.map(file(_).path).toSet
    override def mightMatch(part: PartSummary): Boolean = part.hasLiveFiles
    override def removes(entry: ManifestEntry): Boolean = paths(entry.file.path)
  }

  /** Returns the written tree as a manifest list, the tree format of table versions 1 to 3. */
  def listOf(written: WrittenTree): WrittenManifestList = written match {
    case list: WrittenManifestList => list
  }

  /** Returns how many manifests were created, kept and replaced. */
  def counts(written: WrittenTree): (Int, Int, Int) = {
    val list = listOf(written)
    (list.turnover.created, list.turnover.kept, list.turnover.replaced)
  }

  def nameOf(file: ContentFile): String = file.path.split('/').last.stripSuffix(".parquet")
}
