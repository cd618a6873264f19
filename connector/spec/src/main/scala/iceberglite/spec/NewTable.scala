package iceberglite.spec

import java.util.UUID

import iceberglite.spec.MetadataUpdate._

/**
 * A table as a user describes it, before it has ids.
 *
 * @param schema with any field ids; the table's own are counted from 1. Identifier fields are those of these ids
 * @param properties also `format-version`, which picks the version of the format and is not kept as a property. Those of
 *   [[DeclaredType]] go by the ids of `schema`
 * @param caseSensitive whether `partitioning` and `order` name columns exactly
 */
final case class NewTable(
    schema: Schema,
    partitioning: Vector[UnboundPartitionField],
    order: Vector[UnboundSortField],
    location: String,
    properties: Map[String, String],
    caseSensitive: Boolean = true
) {

  /** The updates that make the table. @throws IcebergError where the description breaks a rule of the spec */
  def creation(uuid: UUID): Vector[MetadataUpdate] = {
    TableProperty.check(properties)
    val version = TableProperty.of(TableProperty.Version, properties)
    val (fresh, lastColumnId) = numbered(None, version)
    val spec = UnboundField.partitionSpec(fresh, partitioning, caseSensitive)
    Vector(AssignUuid(uuid), UpgradeFormatVersion(version)) ++ structure(fresh, lastColumnId, spec) ++ Vector(
      SetLocation(location.stripSuffix("/")),
      // Tables without this property come from releases whose default was gzip.
      SetProperties(Map(TableProperty.ParquetCodec.key -> TableProperty.ParquetCodecOfNewTables) ++ kept(fresh))
    )
  }

  /** The metadata of the table, still without a snapshot. */
  def metadata(uuid: UUID, nowMs: Long): TableMetadata = MetadataUpdate.create(creation(uuid), nowMs)

  /**
   * The updates that put this table in the place of another, which keeps its UUID and history: columns and partition
   * fields that are the same keep their ids, its properties are added to. It is empty until its first write.
   */
  def replacement(base: TableMetadata): Vector[MetadataUpdate] = {
    TableProperty.check(properties)
    val version = properties.get(TableProperty.Version.key).fold(base.formatVersion)(TableProperty.Version.read)
    val (fresh, lastColumnId) = numbered(Some(base), version)
    val bound = UnboundField.partitionSpec(fresh, partitioning, caseSensitive)
    val spec = if (version == FormatVersion.V1) Replaced.sequential(base, bound) else Replaced.withKnownIds(base, bound)
    val set = kept(fresh)
    Vector(UpgradeFormatVersion(version), RemoveSnapshotRef(SnapshotRef.Main)) ++
      structure(fresh, lastColumnId, spec) ++
      Vector(SetLocation(location.stripSuffix("/")), SetProperties(set)) ++
      Vector(RemoveProperties(DeclaredType.stale(base.properties, fresh, set))).filter(_.keys.nonEmpty)
  }

  /** Checked at once, as a table that is made from a query is committed only after its data is written. */
  private def numbered(old: Option[TableMetadata], version: FormatVersion): (Schema, Int) = {
    val (fresh, lastColumnId) = FreshIds.of(schema, old)
    SchemaCheck(fresh, version)
    Schema.fieldsOf(fresh.asStruct).find(_.writeDefault.isDefined)
      .foreach(f => SchemaCheck.defaultsAllowed(fresh.names(f.id), version))
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

  private def kept(fresh: Schema): Map[String, String] =
    DeclaredType.renumbered(properties.filter { case (key, _) => !TableProperty.Reserved(key) }, schema, fresh)
}

/** The partition field ids of a table that takes the place of another. */
private object Replaced {

  /** Spec, "Partitioning": ids must be reused for fields that an existing spec has. */
  def withKnownIds(base: TableMetadata, spec: PartitionSpec): PartitionSpec = {
    val known = base.specs.flatMap(_.fields)
    val (_, fields) = spec.fields.foldLeft((base.lastPartitionId, Vector.empty[PartitionField])) {
      case ((last, done), field) =>
        known.find(k => k.sameValues(field) && !done.exists(_.fieldId == k.fieldId)) match {
          case Some(same) => (last, done :+ field.copy(fieldId = same.fieldId))
          case None => (last + 1, done :+ field.copy(fieldId = last + 1))
        }
    }
    spec.copy(fields = fields)
  }

  /**
   * Spec, "Partition Evolution": in version 1 the old fields stay, void where they are not wanted, and new ones follow.
   */
  def sequential(base: TableMetadata, spec: PartitionSpec): PartitionSpec = {
    val old = base.spec.fields.map { f =>
      spec.fields.find(_.sameValues(f)).fold(dropped(f))(same => f.copy(name = same.name))
    }
    val added = spec.fields.filterNot(f => base.spec.fields.exists(_.sameValues(f)))
    val fields = (old ++ added).zipWithIndex.map { case (f, i) => f.copy(fieldId = PartitionSpec.FirstFieldId + i) }
    spec.copy(fields = fields)
  }

  private def dropped(f: PartitionField): PartitionField =
    if (f.transform == transform.Void) f else f.copy(name = s"${f.name}_${f.fieldId}", transform = transform.Void)
}
