package iceberglite.spec

import java.util.UUID

import iceberglite.spec.fold.{MetadataFold, ViewFold}

/**
 * One change of a table's metadata, in the vocabulary of the REST catalog; a commit is a sequence of them. `-1` as an id
 * stands for the schema, spec or order that the same sequence added last, whose id is known only once it is applied.
 */
sealed trait MetadataUpdate extends Product with Serializable

/** The same of a view's. Some changes are the same for both. */
sealed trait ViewUpdate extends Product with Serializable

object MetadataUpdate {
  final case class AssignUuid(uuid: UUID) extends MetadataUpdate with ViewUpdate

  /** Up only. */
  final case class UpgradeFormatVersion(version: FormatVersion) extends MetadataUpdate with ViewUpdate

  /** @param lastColumnId the highest field id that the change gave out; one lower than the table's changes nothing */
  final case class AddSchema(schema: Schema, lastColumnId: Int) extends MetadataUpdate with ViewUpdate
  final case class SetCurrentSchema(schemaId: Int) extends MetadataUpdate
  final case class AddPartitionSpec(spec: PartitionSpec) extends MetadataUpdate
  final case class SetDefaultSpec(specId: Int) extends MetadataUpdate

  /** Specs that no manifest has any more; the default one stays. */
  final case class RemovePartitionSpecs(specIds: Set[Int]) extends MetadataUpdate

  /** Schemas that no snapshot was written with; the current one stays. */
  final case class RemoveSchemas(schemaIds: Set[Int]) extends MetadataUpdate
  final case class AddSortOrder(order: SortOrder) extends MetadataUpdate
  final case class SetDefaultSortOrder(orderId: Int) extends MetadataUpdate

  /** The snapshot belongs to no branch until a [[SetSnapshotRef]] says so. */
  final case class AddSnapshot(snapshot: Snapshot) extends MetadataUpdate

  /** Takes the branches and tags that point to them along; the current snapshot cannot be removed. */
  final case class RemoveSnapshots(snapshotIds: Set[Long]) extends MetadataUpdate
  final case class SetSnapshotRef(name: String, ref: SnapshotRef) extends MetadataUpdate

  /** Without `main`, the table is empty; its history stays. */
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

  /** What [[SetCurrentSchema]] and its like take for "the one added last". */
  val LastAdded: Int = -1

  /**
   * The metadata after a change. Its metadata log is that of `base`: only the committer knows the file that `base`
   * stands in, and adds it with [[MetadataLog.append]].
   *
   * @param nowMs the time of the commit
   * @throws IcebergError.ValidationFailed where an update breaks a rule of the spec
   */
  def applyAll(base: TableMetadata, updates: Seq[MetadataUpdate], nowMs: Long): TableMetadata =
    MetadataFold(base, updates, nowMs)

  /** The metadata of a new table, from the updates that describe all of it ([[NewTable.creation]]). */
  def create(updates: Seq[MetadataUpdate], nowMs: Long): TableMetadata =
    MetadataFold(MetadataFold.Nothing, updates, nowMs)
}

object ViewUpdate {

  /** @param version its id is given anew; a schema id of `-1` is that of the schema added last */
  final case class AddViewVersion(version: ViewVersion) extends ViewUpdate
  final case class SetCurrentViewVersion(versionId: Int) extends ViewUpdate

  /**
   * The view after a change.
   *
   * @param nowMs the time of the commit
   * @throws IcebergError.ValidationFailed where an update breaks a rule of the spec
   */
  def applyAll(base: ViewMetadata, updates: Seq[ViewUpdate], nowMs: Long): ViewMetadata =
    ViewFold(base, updates, nowMs)

  /** A new view, from the updates that describe all of it. */
  def create(updates: Seq[ViewUpdate], nowMs: Long): ViewMetadata = ViewFold.create(updates, nowMs)
}
