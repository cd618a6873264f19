package iceberglite.spec.update

import java.util.UUID

import iceberglite.spec.FormatVersion
import iceberglite.spec.metadata.{
  EncryptionKey,
  PartitionStatisticsFile,
  Snapshot,
  SnapshotRef,
  StatisticsFile,
  TableMetadata
}
import iceberglite.spec.partition.{PartitionSpec, SortOrder, TableExpression, Transform}
import iceberglite.spec.schema.Schema
import iceberglite.spec.view.{ViewMetadata, ViewVersion}

/**
 * A metadata update of a table, as the REST catalog specification defines it, except `AddExpression`,
 * `CopyExpressions` and `RemoveExpression` (version 4), which it does not define. A commit is a sequence of updates.
 * The id `-1` refers to the schema, partition spec or sort order that the same sequence added last. The actual id of
 * this object is known only when the update that adds it is applied.
 */
sealed trait MetadataUpdate extends Product with Serializable

/** A metadata update of a view; some updates apply to both tables and views. */
sealed trait ViewUpdate extends Product with Serializable

object MetadataUpdate {
  final case class AssignUuid(uuid: UUID) extends MetadataUpdate with ViewUpdate

  /** Upgrades the format version. A downgrade is not possible. */
  final case class UpgradeFormatVersion(version: FormatVersion) extends MetadataUpdate with ViewUpdate

  /**
   * Adds a schema.
   *
   * @param lastColumnId the highest field id that has been assigned, including the ids of this schema; a value below
   *   the table's `last-column-id` has no effect
   */
  final case class AddSchema(schema: Schema, lastColumnId: Int) extends MetadataUpdate with ViewUpdate
  final case class SetCurrentSchema(schemaId: Int) extends MetadataUpdate
  final case class AddPartitionSpec(spec: PartitionSpec) extends MetadataUpdate
  final case class SetDefaultSpec(specId: Int) extends MetadataUpdate

  /**
   * Removes partition specs. The caller must make sure that no manifest uses them. The default partition spec cannot be
   * removed.
   */
  final case class RemovePartitionSpecs(specIds: Set[Int]) extends MetadataUpdate

  /** Removes schemas. The caller must make sure that no snapshot uses them. The current schema cannot be removed. */
  final case class RemoveSchemas(schemaIds: Set[Int]) extends MetadataUpdate
  final case class AddSortOrder(order: SortOrder) extends MetadataUpdate
  final case class SetDefaultSortOrder(orderId: Int) extends MetadataUpdate

  /** Adds a snapshot. The snapshot belongs to no branch until a [[SetSnapshotRef]] adds it to a branch. */
  final case class AddSnapshot(snapshot: Snapshot) extends MetadataUpdate

  /**
   * Removes snapshots, and the branches, tags and statistics files that refer to these snapshots. The snapshot log
   * keeps only the entries after the last entry of a removed snapshot. The current snapshot cannot be removed.
   */
  final case class RemoveSnapshots(snapshotIds: Set[Long]) extends MetadataUpdate
  final case class SetSnapshotRef(name: String, ref: SnapshotRef) extends MetadataUpdate

  /**
   * Removes a branch or tag. If `main` is removed, the table becomes empty, but its snapshots and its snapshot log are
   * kept.
   */
  final case class RemoveSnapshotRef(name: String) extends MetadataUpdate
  final case class SetProperties(properties: Map[String, String]) extends MetadataUpdate with ViewUpdate
  final case class RemoveProperties(keys: Set[String]) extends MetadataUpdate with ViewUpdate
  final case class SetLocation(location: String) extends MetadataUpdate with ViewUpdate
  final case class SetStatistics(file: StatisticsFile) extends MetadataUpdate
  final case class RemoveStatistics(snapshotId: Long) extends MetadataUpdate
  final case class SetPartitionStatistics(file: PartitionStatisticsFile) extends MetadataUpdate
  final case class RemovePartitionStatistics(snapshotId: Long) extends MetadataUpdate
  final case class AddEncryptionKey(key: EncryptionKey) extends MetadataUpdate
  final case class RemoveEncryptionKey(keyId: String) extends MetadataUpdate

  /** Adds a table expression that belongs to no partition field. It gets a new id. */
  final case class AddExpression(sourceIds: Vector[Int], transform: Transform, name: String) extends MetadataUpdate

  /** Adds the expressions of another table to a new table that has none. They keep their ids. */
  final case class CopyExpressions(expressions: Vector[TableExpression]) extends MetadataUpdate

  /** Removes a table expression that belongs to no partition field. Its id is not used again. */
  final case class RemoveExpression(id: Int) extends MetadataUpdate

  /** The id that refers to the last added object in [[SetCurrentSchema]] and similar updates. */
  val LastAdded: Int = -1

  /**
   * Returns the metadata after a change. The metadata log is not changed, because only the caller that commits the
   * change knows the metadata file of `base`. The caller adds this file to the metadata log with
   * [[MetadataLog.extend]].
   *
   * @param nowMs the time of the commit
   * @throws IcebergError if an update violates the specification
   */
  def applyAll(base: TableMetadata, updates: Seq[MetadataUpdate], nowMs: Long): TableMetadata =
    MetadataBuilder(base, updates, nowMs)

  /** Returns the metadata of a new table, from the updates that describe it ([[NewTable.creation]]). */
  def create(updates: Seq[MetadataUpdate], nowMs: Long): TableMetadata =
    MetadataBuilder(MetadataBuilder.Empty, updates, nowMs)
}

object ViewUpdate {

  /**
   * Adds a view version.
   *
   * @param version the version, which gets a new id; the schema id `-1` refers to the schema that the change added last
   */
  final case class AddViewVersion(version: ViewVersion) extends ViewUpdate
  final case class SetCurrentViewVersion(versionId: Int) extends ViewUpdate

  /**
   * Returns the view after a change.
   *
   * @param nowMs the time of the commit
   * @throws IcebergError if an update violates the specification
   */
  def applyAll(base: ViewMetadata, updates: Seq[ViewUpdate], nowMs: Long): ViewMetadata =
    ViewMetadataBuilder(base, updates, nowMs)

  /** Returns a new view, from the updates that describe it. */
  def create(updates: Seq[ViewUpdate], nowMs: Long): ViewMetadata = ViewMetadataBuilder.create(updates, nowMs)
}
