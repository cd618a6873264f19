package iceberglite.spec

import java.util.UUID

import iceberglite.spec.metadata._
import iceberglite.spec.partition.{PartitionSpec, SortOrder, TableExpression}
import iceberglite.spec.schema.Schema

/** Table metadata that tests set directly, without metadata updates. */
object TestMetadata {

  /** Returns the metadata of a table without snapshots. The last of the specs is the default spec. */
  def apply(
      schema: Schema,
      specs: Vector[PartitionSpec] = Vector(PartitionSpec.Unpartitioned),
      version: FormatVersion = FormatVersion.V2,
      location: String = "mem:/t",
      properties: Map[String, String] = Map.empty
  ): TableMetadata = TableMetadata(
    formatVersion = version,
    uuid = Some(new UUID(0, 1)),
    location = location,
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
    refs = Map.empty,
    expressions =
      if (version < FormatVersion.V4) Vector.empty
      else TableExpression.complete(specs, Vector.empty, schema.highestFieldId)
  )

  implicit final class Edits(m: TableMetadata) {

    /** Returns a copy with the given fields, even if the fields contradict each other. */
    def edited(
        formatVersion: FormatVersion = m.formatVersion,
        uuid: Option[UUID] = m.uuid,
        location: String = m.location,
        lastSequenceNumber: Long = m.lastSequenceNumber,
        lastUpdatedMs: Long = m.lastUpdatedMs,
        lastColumnId: Int = m.lastColumnId,
        schemas: Vector[Schema] = m.schemas,
        currentSchemaId: Int = m.currentSchemaId,
        specs: Vector[PartitionSpec] = m.specs,
        defaultSpecId: Int = m.defaultSpecId,
        lastPartitionId: Int = m.lastPartitionId,
        sortOrders: Vector[SortOrder] = m.sortOrders,
        defaultSortOrderId: Int = m.defaultSortOrderId,
        properties: Map[String, String] = m.properties,
        currentSnapshotId: Option[Long] = m.currentSnapshotId,
        snapshots: Vector[Snapshot] = m.snapshots,
        snapshotLog: Vector[SnapshotLogEntry] = m.snapshotLog,
        metadataLog: Vector[MetadataLogEntry] = m.metadataLog,
        refs: Map[String, SnapshotRef] = m.refs,
        statistics: Vector[StatisticsFile] = m.statistics,
        partitionStatistics: Vector[PartitionStatisticsFile] = m.partitionStatistics,
        nextRowId: Long = m.nextRowId,
        encryptionKeys: Vector[EncryptionKey] = m.encryptionKeys,
        expressions: Vector[TableExpression] = m.expressions
    ): TableMetadata = m.copy(
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
}
