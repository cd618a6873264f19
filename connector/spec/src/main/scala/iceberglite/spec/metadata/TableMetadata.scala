package iceberglite.spec.metadata

import java.util.UUID

import iceberglite.spec.{FormatVersion, ObjectKind}
import iceberglite.spec.IcebergError.{InvalidArgument, NotFound}
import iceberglite.spec.partition.{PartitionSpec, SortOrder, TableExpression}
import iceberglite.spec.schema.Schema

/**
 * The metadata of a table (spec: "Table Metadata Fields"). The object is immutable: [[MetadataUpdate]]s return a new
 * object. Only code in the package `iceberglite.spec` can create and copy metadata. Therefore all changes follow the
 * rules of the specification.
 *
 * @param uuid the table's UUID; absent only in version 1 tables
 * @param lastSequenceNumber the highest assigned sequence number; 0 in version 1
 * @param refs the branches and tags, including `main` if there is a current snapshot
 * @param nextRowId the next row id that is assigned to a row; 0 in versions 1 and 2
 * @param expressions the expressions of a version 4 table, among them one for each partition field that is not void;
 *   empty in earlier versions
 */
sealed abstract case class TableMetadata private (
    formatVersion: FormatVersion,
    uuid: Option[UUID],
    location: String,
    lastSequenceNumber: Long,
    lastUpdatedMs: Long,
    lastColumnId: Int,
    schemas: Vector[Schema],
    currentSchemaId: Int,
    specs: Vector[PartitionSpec],
    defaultSpecId: Int,
    lastPartitionId: Int,
    sortOrders: Vector[SortOrder],
    defaultSortOrderId: Int,
    properties: Map[String, String],
    currentSnapshotId: Option[Long],
    snapshots: Vector[Snapshot],
    snapshotLog: Vector[SnapshotLogEntry],
    metadataLog: Vector[MetadataLogEntry],
    refs: Map[String, SnapshotRef],
    statistics: Vector[StatisticsFile],
    partitionStatistics: Vector[PartitionStatisticsFile],
    nextRowId: Long,
    encryptionKeys: Vector[EncryptionKey],
    expressions: Vector[TableExpression]
) {

  /**
   * The snapshots by their ids. Callers that look up only a few of the newest snapshots, such as a commit, should use
   * [[findSnapshot]] instead. It does not build this map, which is large if the table has a long history.
   */
  lazy val snapshotsById: Map[Long, Snapshot] = snapshots.iterator.map(s => s.snapshotId -> s).toMap
  lazy val specsById: Map[Int, PartitionSpec] = specs.map(s => s.specId -> s).toMap
  lazy val schemasById: Map[Int, Schema] = schemas.map(s => s.schemaId -> s).toMap

  def schema: Schema = schemasById(currentSchemaId)
  def spec: PartitionSpec = specsById(defaultSpecId)
  def sortOrder: SortOrder = sortOrders.find(_.orderId == defaultSortOrderId).getOrElse(SortOrder.Unsorted)
  def currentSnapshot: Option[Snapshot] = currentSnapshotId.flatMap(findSnapshot)

  /** Returns a snapshot, with a linear search that starts at the newest snapshot. */
  def findSnapshot(id: Long): Option[Snapshot] = snapshots.reverseIterator.find(_.snapshotId == id)

  def hasSnapshot(id: Long): Boolean = findSnapshot(id).isDefined

  def snapshot(id: Long): Snapshot = findSnapshot(id).getOrElse(
    throw NotFound(ObjectKind.Snapshot, id.toString, "List the snapshots with the metadata table `snapshots`")
  )

  /**
   * Returns the snapshot of a branch or tag; absent if there is no such branch or tag, or if `main` has no snapshot.
   */
  def snapshotOf(ref: String): Option[Snapshot] =
    if (ref == SnapshotRef.Main) currentSnapshot else refs.get(ref).map(r => snapshot(r.snapshotId))

  /** Returns the snapshot that was the current one at a timestamp, according to the snapshot log. */
  def snapshotAsOf(timestampMs: Long): Snapshot = snapshotLog.filter(_.timestampMs <= timestampMs).lastOption
    .map(e => snapshot(e.snapshotId))
    .getOrElse(throw InvalidArgument(
      "timestamp",
      java.time.Instant.ofEpochMilli(timestampMs).toString,
      snapshotLog.headOption.fold("The table has no snapshots")(e =>
        s"The table's history starts at ${java.time.Instant.ofEpochMilli(e.timestampMs)}"
      )
    ))

  /**
   * Returns the schema of a snapshot; the current schema if the snapshot has no schema id, or if the table no longer
   * has the schema.
   */
  def schemaOf(snapshot: Snapshot): Schema = snapshot.schemaId.flatMap(schemasById.get).getOrElse(schema)

  /**
   * Returns a snapshot and its ancestors, newest first. The iteration ends at the first ancestor that the metadata does
   * not contain, or if the parents form a cycle in invalid metadata.
   */
  def ancestors(snapshot: Snapshot): Iterator[Snapshot] = {
    val seen = new java.util.HashSet[Long]
    Iterator.iterate(Option(snapshot -> snapshots.size))(_.flatMap { case (child, position) =>
      child.parentSnapshotId.flatMap(findBefore(_, position))
    }).takeWhile(_.exists { case (s, _) => seen.add(s.snapshotId) }).flatten.map(_._1)
  }

  /**
   * Returns a snapshot and its position in `snapshots`. The search goes backwards from `position`, because a parent is
   * usually listed shortly before its children. If the snapshot is not found, the search continues forwards from
   * `position`.
   */
  private def findBefore(id: Long, position: Int): Option[(Snapshot, Int)] = {
    def isAt(index: Int): Boolean = snapshots(index).snapshotId == id
    val found = (position - 1 to 0 by -1).find(isAt).orElse((position until snapshots.size).find(isAt))
    found.map(index => snapshots(index) -> index)
  }

  /**
   * Returns the metadata that a task needs to read the files of one snapshot. Other snapshots, logs, references and
   * statistics can be large, so they are omitted. This metadata must not be written.
   */
  def forReading(snapshot: Snapshot): TableMetadata = copy(
    currentSnapshotId = None,
    snapshots = Vector(snapshot),
    snapshotLog = Vector.empty,
    metadataLog = Vector.empty,
    refs = Map.empty,
    statistics = Vector.empty,
    partitionStatistics = Vector.empty
  )

  private[spec] def copy(
      formatVersion: FormatVersion = this.formatVersion,
      uuid: Option[UUID] = this.uuid,
      location: String = this.location,
      lastSequenceNumber: Long = this.lastSequenceNumber,
      lastUpdatedMs: Long = this.lastUpdatedMs,
      lastColumnId: Int = this.lastColumnId,
      schemas: Vector[Schema] = this.schemas,
      currentSchemaId: Int = this.currentSchemaId,
      specs: Vector[PartitionSpec] = this.specs,
      defaultSpecId: Int = this.defaultSpecId,
      lastPartitionId: Int = this.lastPartitionId,
      sortOrders: Vector[SortOrder] = this.sortOrders,
      defaultSortOrderId: Int = this.defaultSortOrderId,
      properties: Map[String, String] = this.properties,
      currentSnapshotId: Option[Long] = this.currentSnapshotId,
      snapshots: Vector[Snapshot] = this.snapshots,
      snapshotLog: Vector[SnapshotLogEntry] = this.snapshotLog,
      metadataLog: Vector[MetadataLogEntry] = this.metadataLog,
      refs: Map[String, SnapshotRef] = this.refs,
      statistics: Vector[StatisticsFile] = this.statistics,
      partitionStatistics: Vector[PartitionStatisticsFile] = this.partitionStatistics,
      nextRowId: Long = this.nextRowId,
      encryptionKeys: Vector[EncryptionKey] = this.encryptionKeys,
      expressions: Vector[TableExpression] = this.expressions
  ): TableMetadata = TableMetadata(
    formatVersion,
    uuid,
    location,
    lastSequenceNumber,
    lastUpdatedMs,
    lastColumnId,
    schemas,
    currentSchemaId,
    specs,
    defaultSpecId,
    lastPartitionId,
    sortOrders,
    defaultSortOrderId,
    properties,
    currentSnapshotId,
    snapshots,
    snapshotLog,
    metadataLog,
    refs,
    statistics,
    partitionStatistics,
    nextRowId,
    encryptionKeys,
    expressions
  )
}

object TableMetadata {
  private[spec] def apply(
      formatVersion: FormatVersion,
      uuid: Option[UUID],
      location: String,
      lastSequenceNumber: Long,
      lastUpdatedMs: Long,
      lastColumnId: Int,
      schemas: Vector[Schema],
      currentSchemaId: Int,
      specs: Vector[PartitionSpec],
      defaultSpecId: Int,
      lastPartitionId: Int,
      sortOrders: Vector[SortOrder],
      defaultSortOrderId: Int,
      properties: Map[String, String],
      currentSnapshotId: Option[Long],
      snapshots: Vector[Snapshot],
      snapshotLog: Vector[SnapshotLogEntry],
      metadataLog: Vector[MetadataLogEntry],
      refs: Map[String, SnapshotRef],
      statistics: Vector[StatisticsFile] = Vector.empty,
      partitionStatistics: Vector[PartitionStatisticsFile] = Vector.empty,
      nextRowId: Long = 0L,
      encryptionKeys: Vector[EncryptionKey] = Vector.empty,
      expressions: Vector[TableExpression] = Vector.empty
  ): TableMetadata = new TableMetadata(
    formatVersion,
    uuid,
    location,
    lastSequenceNumber,
    lastUpdatedMs,
    lastColumnId,
    schemas,
    currentSchemaId,
    specs,
    defaultSpecId,
    lastPartitionId,
    sortOrders,
    defaultSortOrderId,
    properties,
    currentSnapshotId,
    snapshots,
    snapshotLog,
    metadataLog,
    refs,
    statistics,
    partitionStatistics,
    nextRowId,
    encryptionKeys,
    expressions
  ) {}
}
