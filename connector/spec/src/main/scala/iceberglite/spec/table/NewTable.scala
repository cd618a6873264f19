package iceberglite.spec.table

import java.util.UUID

import iceberglite.spec.FormatVersion
import iceberglite.spec.metadata.{SnapshotRef, TableMetadata}
import iceberglite.spec.partition.{
  PartitionField,
  PartitionSpec,
  UnboundField,
  UnboundPartitionField,
  UnboundSortField,
  Void
}
import iceberglite.spec.property.TableProperty
import iceberglite.spec.schema.{FieldProperties, Schema, SchemaCheck}
import iceberglite.spec.update.{FreshIds, MetadataUpdate}
import iceberglite.spec.update.MetadataUpdate._

/**
 * The definition of a table that a user creates or replaces. The definition has no schema ids and no final field ids.
 *
 * @param schema the columns. Their field ids are used only within this definition. The columns of a new table get field
 *   ids that start at 1. If a table is replaced, matching columns keep their ids (see [[FreshIds]])
 * @param properties the table properties; `format-version` sets the format version and is not stored. The
 *   [[FieldProperties]] use the field ids of `schema`
 * @param caseSensitive whether the column names in `partitioning` and `order` must match exactly
 */
final case class NewTable(
    schema: Schema,
    partitioning: Vector[UnboundPartitionField],
    order: Vector[UnboundSortField],
    location: String,
    properties: Map[String, String],
    caseSensitive: Boolean = true
) {

  /**
   * Returns the metadata updates that create the table.
   *
   * @throws IcebergError if the definition violates the specification
   */
  def creation(uuid: UUID): Vector[MetadataUpdate] = {
    TableProperty.check(properties)
    val version = TableProperty.of(TableProperty.Version, properties)
    val (fresh, lastColumnId) = assignFieldIds(None, version)
    val spec = UnboundField.partitionSpec(fresh, partitioning, caseSensitive)
    Vector(AssignUuid(uuid), UpgradeFormatVersion(version)) ++ structure(fresh, lastColumnId, spec) ++ Vector(
      SetLocation(location.stripSuffix("/")),
      // The codec is stored, because tables without the property continue to use gzip, the default of earlier releases.
      SetProperties(
        Map(TableProperty.ParquetCodec.key -> TableProperty.ParquetCodecOfNewTables.name) ++ storedProperties(fresh)
      )
    )
  }

  /** Returns the metadata of the table, without a snapshot. */
  def metadata(uuid: UUID, nowMs: Long): TableMetadata = MetadataUpdate.create(creation(uuid), nowMs)

  /**
   * Returns the metadata updates that replace the definition of an existing table. The table keeps its UUID and
   * history. Matching columns (see [[FreshIds]]) and identical partition fields keep their ids. The properties are
   * added to the existing properties. Existing [[FieldProperties]] that no longer apply are removed. The table is empty
   * until its first write.
   */
  def replacement(base: TableMetadata): Vector[MetadataUpdate] = {
    TableProperty.check(properties)
    val version = properties.get(TableProperty.Version.key).fold(base.formatVersion)(TableProperty.Version.read)
    val (fresh, lastColumnId) = assignFieldIds(Some(base), version)
    val bound = UnboundField.partitionSpec(fresh, partitioning, caseSensitive)
    val spec = if (version == FormatVersion.V1) ReplacementSpec.sequential(base, bound)
    else ReplacementSpec.withExistingIds(base, bound)
    val newProperties = storedProperties(fresh)
    Vector(UpgradeFormatVersion(version), RemoveSnapshotRef(SnapshotRef.Main)) ++
      structure(fresh, lastColumnId, spec) ++
      Vector(SetLocation(location.stripSuffix("/")), SetProperties(newProperties)) ++
      Vector(RemoveProperties(FieldProperties.staleKeys(base.properties, fresh, newProperties))).filter(_.keys.nonEmpty)
  }

  /**
   * Assigns field ids to the columns and checks the definition. The definition is checked here, before the commit,
   * because a table that is created from a query is committed only after its data is written.
   */
  private def assignFieldIds(old: Option[TableMetadata], version: FormatVersion): (Schema, Int) = {
    val (fresh, lastColumnId) = FreshIds.of(schema, old)
    SchemaCheck(fresh, version)
    Schema.fieldsOf(fresh.asStruct).find(_.writeDefault.isDefined)
      .foreach(f => SchemaCheck.requireDefaultsAllowed(fresh.names(f.id), version))
    (fresh, lastColumnId)
  }

  private def structure(fresh: Schema, lastColumnId: Int, spec: PartitionSpec): Vector[MetadataUpdate] = Vector(
    AddSchema(fresh, lastColumnId),
    SetCurrentSchema(LastAdded),
    AddPartitionSpec(spec),
    SetDefaultSpec(LastAdded),
    AddSortOrder(UnboundField.sortOrder(fresh, order, caseSensitive)),
    SetDefaultSortOrder(LastAdded)
  )

  private def storedProperties(fresh: Schema): Map[String, String] =
    FieldProperties.renumber(properties.filter { case (key, _) => !TableProperty.Reserved(key) }, schema, fresh)
}

/** Assigns partition field ids when the definition of a table is replaced. */
private object ReplacementSpec {

  /**
   * Returns the partition spec in which those fields that are also in an existing partition spec have their existing
   * ids (spec: "Partitioning").
   */
  def withExistingIds(base: TableMetadata, spec: PartitionSpec): PartitionSpec = {
    val existingFields = base.specs.flatMap(_.fields)
    val (_, fields) = spec.fields.foldLeft((base.lastPartitionId, Vector.empty[PartitionField])) {
      case ((last, done), field) =>
        existingFields.find(e => e.sameValues(field) && !done.exists(_.fieldId == e.fieldId)) match {
          case Some(same) => (last, done :+ field.copy(fieldId = same.fieldId))
          case None => (last + 1, done :+ field.copy(fieldId = last + 1))
        }
    }
    spec.copy(fields = fields)
  }

  /**
   * Returns a partition spec with sequential field ids, as version 1 requires. Existing fields are kept, new fields are
   * appended, and the transform of removed fields becomes void (spec: "Partition Evolution").
   */
  def sequential(base: TableMetadata, spec: PartitionSpec): PartitionSpec = {
    val existing = base.spec.fields.map { f =>
      spec.fields.find(_.sameValues(f)).fold(toVoid(f))(same => f.copy(name = same.name))
    }
    val added = spec.fields.filterNot(f => base.spec.fields.exists(_.sameValues(f)))
    val fields = (existing ++ added).zipWithIndex.map { case (f, i) =>
      f.copy(fieldId = PartitionSpec.FirstFieldId + i)
    }
    spec.copy(fields = fields)
  }

  private def toVoid(f: PartitionField): PartitionField =
    if (f.transform == Void) f else f.copy(name = s"${f.name}_${f.fieldId}", transform = Void)
}
