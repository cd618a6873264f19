package iceberglite.spec.table

import java.util.UUID

import iceberglite.spec.FormatVersion
import iceberglite.spec.IcebergError.Unsupported
import iceberglite.spec.metadata.{Snapshot, SnapshotRef, TableMetadata}
import iceberglite.spec.partition.{Identity, PartitionField, PartitionSpec, TableExpression, Void}
import iceberglite.spec.property.TableProperty
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.PrimitiveType
import iceberglite.spec.update.MetadataUpdate
import iceberglite.spec.update.MetadataUpdate._

/**
 * The definition of a new table that uses the files of another table's snapshot. The new table has the schemas,
 * partition specs and sort orders of the other table. Its only snapshot refers to the manifest list of the other
 * table's snapshot.
 *
 * @param source the metadata of the other table
 * @param snapshot the snapshot of the other table; if absent, the new table has no snapshot
 */
final case class TableClone(source: TableMetadata, snapshot: Option[Snapshot]) {

  /**
   * The schemas of the source in the order of their ids. If several schemas have the same columns, only the first is
   * included. The position of a schema is its id in the new table.
   */
  private val schemas: Vector[Schema] = source.schemas.sortBy(_.schemaId).foldLeft(Vector.empty[Schema]) {
    (distinct, schema) => if (distinct.exists(_.sameColumns(schema))) distinct else distinct :+ schema
  }

  private def newId(schema: Schema): Int = schemas.indexWhere(_.sameColumns(schema))

  private val maxSpecId: Int = source.specs.map(_.specId).max
  if (maxSpecId > TableClone.MaxSpecId) throw Unsupported(
    s"cloning a table with the partition spec id $maxSpecId, because the clone needs a spec for each lower id",
    s"The highest supported id is ${TableClone.MaxSpecId}; copy the rows with CREATE TABLE AS SELECT"
  )

  /** Ids of partition specs that the source no longer has. */
  private val removedSpecs: Vector[Int] = (0 until maxSpecId).filterNot(source.specsById.contains).toVector

  /**
   * Returns the metadata updates that create the table.
   *
   * @param properties the properties of the table; `gc.enabled` is always set to false
   */
  def creation(uuid: UUID, location: String, properties: Map[String, String]): Vector[MetadataUpdate] =
    Vector(AssignUuid(uuid), UpgradeFormatVersion(source.formatVersion)) ++ copyExpressions ++
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
   * The expressions of the source with values in manifests (version 4). The clone has them with the same ids, because
   * the manifests refer to them by id. The values of identity expressions are stored under the ids of the columns.
   */
  private val expressions: Vector[TableExpression] = source.expressions.filter(_.transform != Identity)

  /** Returns the metadata update that adds the expressions. If there are none, REST catalogs accept the clone. */
  private def copyExpressions: Vector[MetadataUpdate] =
    if (expressions.isEmpty) Vector.empty else Vector(CopyExpressions(source.expressions))

  /**
   * Returns the metadata updates that add each partition spec of the source with the same id. A new partition spec
   * always gets the next id. Therefore a placeholder with a void field is added for each partition spec that the source
   * no longer has. REST catalog servers require that the current schema has the source columns of a new partition spec.
   */
  private def addSpecs: Vector[MetadataUpdate] = (0 to maxSpecId).toVector.flatMap { id =>
    val spec = source.specsById.getOrElse(id, placeholder(id))
    setSchemaWith(spec.fields.filter(_.transform != Void).flatMap(_.sourceIds)) :+ AddPartitionSpec(spec)
  }

  private def addOrders: Vector[MetadataUpdate] = source.sortOrders.sortBy(_.orderId)
    .flatMap(order => setSchemaWith(order.fields.flatMap(_.sourceIds)) :+ AddSortOrder(order))

  /**
   * Returns the metadata update that sets the current schema to a schema with the given columns. This schema is
   * the current schema of the source or, if the current schema lacks a column, the newest schema with all columns.
   */
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
   * Returns the snapshot as the first snapshot of the new table. The row ids in its files are below the next row id of
   * the source. The snapshot assigns all row ids below this id, so that the new table gets the same next row id as the
   * source.
   */
  private def rootSnapshot(s: Snapshot): Snapshot = {
    val hasRowIds = source.formatVersion >= FormatVersion.V3
    s.copy(
      parentSnapshotId = None,
      // The sequence number of the first snapshot must be higher than 0, the last sequence number of a table without
      // snapshots. A snapshot that was committed in version 1 has the sequence number 0.
      sequenceNumber = if (source.formatVersion == FormatVersion.V1) 0L else math.max(1L, s.sequenceNumber),
      schemaId = s.schemaId.flatMap(source.schemasById.get).map(newId),
      firstRowId = if (hasRowIds) Some(0L) else None,
      addedRows = if (hasRowIds) Some(source.nextRowId) else None
    )
  }

  /**
   * Whether a created table has all partition specs, sort orders and expressions of the source, because data and
   * delete files, and manifests of version 4, refer to them by id. The created table must also not
   * assign column ids or row ids that the source has already assigned.
   */
  def matches(created: TableMetadata): Boolean =
    source.specs.forall(created.specs.contains) && source.sortOrders.forall(created.sortOrders.contains) &&
      expressions.forall(created.expressions.contains) &&
      created.lastColumnId >= source.lastColumnId && (snapshot.isEmpty || created.nextRowId >= source.nextRowId)
}

object TableClone {

  /**
   * The maximum partition spec id of a source. The id is limited, because the metadata of a source may contain any id,
   * and the new table needs a placeholder for each missing partition spec with a lower id.
   */
  private val MaxSpecId = 10000
}
