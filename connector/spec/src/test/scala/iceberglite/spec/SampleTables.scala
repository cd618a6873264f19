package iceberglite.spec

import java.util.UUID

import iceberglite.spec.metadata.{Snapshot, TableMetadata}
import iceberglite.spec.metadata.SnapshotRef.{Branch, Main}
import iceberglite.spec.partition.{Bucket, Day, UnboundPartitionField}
import iceberglite.spec.schema.Schema
import iceberglite.spec.table.NewTable
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.Type._
import iceberglite.spec.update.MetadataUpdate._

/** Small tables for tests. */
object SampleTables {
  val Uuid: UUID = UUID.fromString("fb072c92-a02b-11e9-ae9c-1bb7bc9eca94")
  val CreatedMs = 1700000000000L
  val Location = "file:/warehouse/db/events"

  /**
   * The columns `id`, `ts`, `day`, `amount`, `location` (a struct of `lat` and `lon`), `points` (a list of structs of
   * `x` and `y`) and `tags` (a map from string to int).
   */
  val columns: Vector[NestedField] = Vector(
    NestedField.required(0, "id", IntType),
    NestedField.optional(0, "ts", TimestampTzType, "When"),
    NestedField.optional(0, "day", DateType),
    NestedField.optional(0, "amount", DecimalType(9, 2)),
    NestedField.required(
      0,
      "location",
      StructType(Vector(NestedField.required(0, "lat", FloatType), NestedField.optional(0, "lon", FloatType)))
    ),
    NestedField.optional(
      0,
      "points",
      ListType(
        0,
        StructType(Vector(NestedField.required(0, "x", IntType), NestedField.optional(0, "y", IntType))),
        elementRequired = true
      )
    ),
    NestedField.optional(0, "tags", MapType(0, StringType, 0, IntType, false))
  )

  def description(version: FormatVersion, partitioning: UnboundPartitionField*): NewTable = NewTable(
    Schema(0, columns),
    partitioning.toVector,
    Vector.empty,
    Location,
    Map("format-version" -> version.toString)
  )

  def empty(version: FormatVersion, partitioning: UnboundPartitionField*): TableMetadata =
    description(version, partitioning: _*).metadata(Uuid, CreatedMs)

  val byDay: UnboundPartitionField = UnboundPartitionField(Vector("ts"), Day)
  val byBucket: UnboundPartitionField = UnboundPartitionField(Vector("id"), Bucket(16))

  /** Returns a snapshot whose parent is the table's current snapshot. */
  def snapshot(base: TableMetadata, id: Long, timestampMs: Long, rows: Long = 10): Snapshot = Snapshot(
    snapshotId = id,
    parentSnapshotId = base.currentSnapshotId,
    sequenceNumber = if (base.formatVersion == FormatVersion.V1) 0 else base.lastSequenceNumber + 1,
    timestampMs = timestampMs,
    manifestList = Some(s"$Location/metadata/snap-$id.avro"),
    manifests = Vector.empty,
    summary = Map("operation" -> "append", "added-records" -> rows.toString),
    schemaId = Some(base.currentSchemaId),
    firstRowId = if (base.formatVersion < FormatVersion.V3) None else Some(base.nextRowId),
    addedRows = if (base.formatVersion < FormatVersion.V3) None else Some(rows)
  )

  /** Returns the table after a commit to the branch main. */
  def commit(base: TableMetadata, id: Long, timestampMs: Long): TableMetadata =
    applyAll(base, Seq(AddSnapshot(snapshot(base, id, timestampMs)), SetSnapshotRef(Main, Branch(id))), timestampMs)

  /** Returns a table with the snapshots 1, 2 and 3, one second apart. */
  def withHistory(version: FormatVersion): TableMetadata =
    (1 to 3).foldLeft(empty(version, byDay, byBucket))((m, i) => commit(m, i.toLong, CreatedMs + i * 1000L))
}
