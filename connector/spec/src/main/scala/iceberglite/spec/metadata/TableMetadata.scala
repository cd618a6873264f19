package iceberglite.spec.metadata

import java.util.UUID

import iceberglite.spec.{FormatVersion, ObjectKind}
import iceberglite.spec.IcebergError.{InvalidArgument, NotFound}
import iceberglite.spec.partition.{PartitionSpec, SortOrder}
import iceberglite.spec.schema.Schema

/**
 * The metadata of a table (spec: "Table Metadata Fields"). The object is immutable: [[MetadataUpdate]]s return a new
 * object.
 *
 * @param uuid the table's UUID; absent only in version 1 tables
 * @param lastSequenceNumber the highest assigned sequence number; 0 in version 1
 * @param refs the branches and tags, including `main` if there is a current snapshot
 * @param nextRowId the next row id that is assigned to a row; 0 in versions 1 and 2
 */
final case class TableMetadata(
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
    encryptionKeys: Vector[EncryptionKey] = Vector.empty
) {
  lazy val snapshotsById: Map[Long, Snapshot] = new SnapshotIndex(snapshots)
  lazy val specsById: Map[Int, PartitionSpec] = specs.map(s => s.specId -> s).toMap
  lazy val schemasById: Map[Int, Schema] = schemas.map(s => s.schemaId -> s).toMap

  def schema: Schema = schemasById(currentSchemaId)
  def spec: PartitionSpec = specsById(defaultSpecId)
  def sortOrder: SortOrder = sortOrders.find(_.orderId == defaultSortOrderId).getOrElse(SortOrder.Unsorted)
  def currentSnapshot: Option[Snapshot] = currentSnapshotId.flatMap(snapshotsById.get)

  def snapshot(id: Long): Snapshot = snapshotsById.getOrElse(
    id,
    throw NotFound(ObjectKind.Snapshot, id.toString, "List the snapshots with the metadata table `snapshots`")
  )

  /** Returns the snapshot of a branch or tag. */
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

  /** Returns the schema of a snapshot; the current schema if the snapshot has no schema id. */
  def schemaOf(snapshot: Snapshot): Schema = snapshot.schemaId.flatMap(schemasById.get).getOrElse(schema)

  /**
   * Returns a snapshot and its ancestors, the newest first. The iteration ends at the first ancestor that the metadata
   * does not contain, or if the parents form a cycle in invalid metadata.
   */
  def ancestors(snapshot: Snapshot): Iterator[Snapshot] = {
    val seen = new java.util.HashSet[Long]
    Iterator.iterate(Option(snapshot))(_.flatMap(_.parentSnapshotId).flatMap(snapshotsById.get))
      .takeWhile(_.exists(s => seen.add(s.snapshotId))).flatten
  }
}
