package iceberglite.tree

import java.util.UUID

import iceberglite.spec._
import iceberglite.table.{Change, Committer, Table, TableIdentifier, TableVersion}

/** A table whose metadata stays in memory: commits write the tree of a snapshot and nothing else. */
final class TestTable(
    schema: Schema,
    specs: Vector[PartitionSpec] = Vector(PartitionSpec.Unpartitioned),
    version: FormatVersion = FormatVersion.V2,
    properties: Map[String, String] = Map.empty,
    cache: ManifestCache = ManifestCache.Off,
    val io: InMemoryIO = new InMemoryIO
) {
  var metadata: TableMetadata = TableMetadata(
    formatVersion = version,
    uuid = Some(new UUID(0, 1)),
    location = "mem:/t",
    lastSequenceNumber = 0,
    lastUpdatedMs = 0,
    lastColumnId = schema.highestFieldId,
    schemas = Vector(schema),
    currentSchemaId = schema.schemaId,
    specs = specs,
    defaultSpecId = specs.last.specId,
    lastPartitionId = 1010,
    sortOrders = Vector(SortOrder.Unsorted),
    defaultSortOrderId = 0,
    properties = properties,
    currentSnapshotId = None,
    snapshots = Vector.empty,
    snapshotLog = Vector.empty,
    metadataLog = Vector.empty,
    refs = Map.empty
  )

  def tree: MetadataTree = MetadataTree.of(io, metadata, cache)

  def table: Table = new Table(
    TableIdentifier(Vector("db"), "t"),
    "lite.db.t",
    TableVersion(metadata, "mem:/t/metadata/v1.metadata.json"),
    io,
    TestTable.NoCommitter
  )

  def manifests: Vector[ManifestFile] = metadata.currentSnapshot.toVector.flatMap(tree.manifests)

  def entries: Vector[ManifestEntry] = manifests.flatMap(m => tree.entries(m))

  def live: Vector[ManifestEntry] = entries.filter(_.isLive)

  def header(attempt: Int = 0): TreeHeader = {
    val id = metadata.snapshots.size + 1L
    TreeHeader(
      metadata.formatVersion,
      id,
      metadata.currentSnapshot,
      if (metadata.formatVersion == FormatVersion.V1) 0 else metadata.lastSequenceNumber + 1,
      if (metadata.formatVersion == FormatVersion.V3) Some(metadata.nextRowId) else None,
      metadata.schema,
      metadata.specsById,
      metadata.properties,
      "mem:/t/metadata",
      new UUID(7, id),
      attempt
    )
  }

  def write(added: Vector[ContentFile], remove: FileSelector = FileSelector.Nothing): WrittenTree =
    tree.write(header(), FileChanges(added, remove), None)

  def commit(added: Vector[ContentFile], remove: FileSelector = FileSelector.Nothing): WrittenTree = {
    val written = write(added, remove)
    adopt(written)
    written
  }

  def append(added: ContentFile*): WrittenTree = commit(added.toVector)

  /** Makes what was written the current snapshot. */
  def adopt(written: WrittenTree): Unit = {
    val h = header()
    val snapshot = Snapshot(
      h.snapshotId,
      h.parent.map(_.snapshotId),
      h.sequenceNumber,
      1000L * h.snapshotId,
      Some(written.manifestList),
      Vector.empty,
      Map(Snapshot.OperationKey -> Operation.Append.name, "added-data-files" -> written.added.size.toString),
      Some(metadata.currentSchemaId),
      h.firstRowId,
      written.addedRows
    )
    setCurrent(snapshot)
  }

  def setCurrent(snapshot: Snapshot): Unit = metadata = metadata.copy(
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
      throw IcebergError.Unsupported(s"a commit to $id", "This table is there to be read")
    override def load(id: TableIdentifier): TableVersion =
      throw IcebergError.Unsupported(s"a look at $id", "This table is there to be read")
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

  /** Removes the files with these names. */
  def removing(names: String*): FileSelector = new FileSelector {
    private val paths = names.map(file(_).path).toSet
    override def mightMatch(manifest: ManifestFile): Boolean = manifest.hasLiveFiles
    override def removes(entry: ManifestEntry): Boolean = paths(entry.file.path)
  }

  def nameOf(file: ContentFile): String = file.path.split('/').last.stripSuffix(".parquet")
}
