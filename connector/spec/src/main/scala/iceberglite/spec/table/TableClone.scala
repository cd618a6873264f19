package iceberglite.spec.table

import java.util.UUID

import iceberglite.spec.FormatVersion
import iceberglite.spec.IcebergError.Unsupported
import iceberglite.spec.metadata.{Snapshot, SnapshotRef, TableMetadata}
import iceberglite.spec.partition.{PartitionField, PartitionSpec, Void}
import iceberglite.spec.property.TableProperty
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.PrimitiveType
import iceberglite.spec.update.MetadataUpdate
import iceberglite.spec.update.MetadataUpdate._

/**
 * A new table on the files of another table's snapshot. The table has the schemas, partition specs and sort orders of
 * the other table, and a single snapshot, which refers to the same manifest list.
 *
 * @param source the metadata of the other table
 * @param snapshot the snapshot of the other table; absent for a table without rows
 */
final case class TableClone(source: TableMetadata, snapshot: Option[Snapshot]) {

  /** The schemas in the order of their ids, without equal ones. Their positions are their ids in the new table. */
  private val schemas: Vector[Schema] = source.schemas.sortBy(_.schemaId).foldLeft(Vector.empty[Schema]) {
    (distinct, schema) => if (distinct.exists(_.sameColumns(schema))) distinct else distinct :+ schema
  }

  private def newId(schema: Schema): Int = schemas.indexWhere(_.sameColumns(schema))

  private val maxSpecId: Int = source.specs.map(_.specId).max
  if (maxSpecId > TableClone.MaxSpecId) throw Unsupported(
    s"cloning a table with the partition spec $maxSpecId, because the new table needs all specs before it",
    s"Specs up to ${TableClone.MaxSpecId} are supported; copy the rows with CREATE TABLE AS SELECT"
  )

  /** Ids of specs that the source no longer has. */
  private val removedSpecs: Vector[Int] = (0 until maxSpecId).filterNot(source.specsById.contains).toVector

  /**
   * Returns the updates that create the table.
   *
   * @param properties the properties of the table; `gc.enabled` is always set to false
   */
  def creation(uuid: UUID, location: String, properties: Map[String, String]): Vector[MetadataUpdate] =
    Vector(AssignUuid(uuid), UpgradeFormatVersion(source.formatVersion)) ++
      schemas.map(AddSchema(_, source.lastColumnId)) ++ addSpecs ++ addOrders ++
      Vector(
        SetCurrentSchema(newId(source.schema)),
        SetDefaultSpec(source.defaultSpecId),
        SetDefaultSortOrder(source.defaultSortOrderId),
        SetLocation(location.stripSuffix("/")),
        SetProperties(properties -- TableProperty.Reserved + (TableProperty.Gc.key -> "false"))
      ) ++ Vector(RemovePartitionSpecs(removedSpecs.toSet)).filter(_.specIds.nonEmpty) ++
      snapshot.toVector.flatMap { s =>
        Vector(AddSnapshot(rootSnapshot(s)), SetSnapshotRef(SnapshotRef.Main, SnapshotRef.Branch(s.snapshotId)))
      }

  /**
   * Returns the updates that add the specs with their ids. Each new spec gets the next id, so specs that the source no
   * longer has are added too, with a void field. Servers require that the current schema has the source columns of a
   * new spec.
   */
  private def addSpecs: Vector[MetadataUpdate] = (0 to maxSpecId).toVector.flatMap { id =>
    val spec = source.specsById.getOrElse(id, placeholder(id))
    setSchemaWith(spec.fields.filter(_.transform != Void).flatMap(_.sourceIds)) :+ AddPartitionSpec(spec)
  }

  private def addOrders: Vector[MetadataUpdate] = source.sortOrders.sortBy(_.orderId)
    .flatMap(order => setSchemaWith(order.fields.flatMap(_.sourceIds)) :+ AddSortOrder(order))

  /** Makes a schema with the given columns current: the current schema of the source, or the newest other schema. */
  private def setSchemaWith(columns: Vector[Int]): Vector[MetadataUpdate] =
    (source.schema +: schemas.reverse).find(s => columns.forall(s.byId.contains)).map(s => SetCurrentSchema(newId(s)))
      .toVector

  private def placeholder(id: Int): PartitionSpec = {
    val column = source.schema.fields.find(_.fieldType.isInstanceOf[PrimitiveType]).getOrElse(throw Unsupported(
      s"cloning a table without partition spec $id and without a top-level column of a primitive type",
      "Add such a column to the table"
    ))
    val fieldId =
      if (source.formatVersion == FormatVersion.V1) PartitionSpec.FirstFieldId else source.lastPartitionId + 1 + id
    PartitionSpec(id, Vector(PartitionField(column.id, fieldId, s"removed_spec_$id", Void)))
  }

  /**
   * Returns the snapshot as the first snapshot of the table. Its row ids are below the next row id of the source. With
   * a range of all of these row ids, the table's next row id becomes that of the source.
   */
  private def rootSnapshot(s: Snapshot): Snapshot = {
    val hasRowIds = source.formatVersion >= FormatVersion.V3
    s.copy(
      parentSnapshotId = None,
      // The first snapshot has a higher sequence number than a table without snapshots. A snapshot of version 1 has 0.
      sequenceNumber = if (source.formatVersion == FormatVersion.V1) 0L else math.max(1L, s.sequenceNumber),
      schemaId = s.schemaId.flatMap(source.schemasById.get).map(newId),
      firstRowId = if (hasRowIds) Some(0L) else None,
      addedRows = if (hasRowIds) Some(source.nextRowId) else None
    )
  }

  /** Returns whether a table has the ids of this clone, which its data and delete files refer to. */
  def matches(created: TableMetadata): Boolean =
    source.specs.forall(created.specs.contains) && source.sortOrders.forall(created.sortOrders.contains) &&
      created.lastColumnId >= source.lastColumnId && (snapshot.isEmpty || created.nextRowId >= source.nextRowId)
}

object TableClone {

  /** The metadata of a source may state any id, and the clone has a placeholder for each spec before it. */
  private val MaxSpecId = 10000
}
