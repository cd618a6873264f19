package iceberglite.spec.update

import iceberglite.spec.{FormatVersion, IcebergError, ObjectKind}
import iceberglite.spec.IcebergError.{InvalidArgument, NotFound, ValidationFailed}
import iceberglite.spec.metadata.{Encryption, Snapshot, SnapshotLogEntry, TableMetadata}
import iceberglite.spec.partition.{PartitionSpec, SourceCheck}
import iceberglite.spec.update.MetadataUpdate._

/**
 * A table's metadata while the updates of a change are applied. The updates that have already been applied determine to
 * which object the id `-1` refers, and which entries are added to the snapshot log.
 *
 * @param lastAddedSchemaId the id of the schema that the change added last, or of the existing schema that equals it
 * @param lastAddedSpecId the id of the partition spec that the change added last, or of an existing compatible one
 * @param lastAddedOrderId the id of the sort order that the change added last, or of the existing order that equals it
 */
final private[spec] case class MetadataBuilder(
    metadata: TableMetadata,
    nowMs: Long,
    lastAddedSchemaId: Option[Int] = None,
    lastAddedSpecId: Option[Int] = None,
    lastAddedOrderId: Option[Int] = None,
    addedSnapshots: Vector[Snapshot] = Vector.empty
) {
  private def updateMetadata(f: TableMetadata => TableMetadata): MetadataBuilder = copy(metadata = f(metadata))

  private def applyUpdate(update: MetadataUpdate): MetadataBuilder = update match {
    case AssignUuid(uuid) => updateMetadata(WholeTableUpdates.assignUuid(_, uuid))
    case UpgradeFormatVersion(version) => updateMetadata(WholeTableUpdates.upgrade(_, version))
    case AddSchema(schema, lastColumnId) =>
      val (next, id) = Schemas.add(metadata, schema, lastColumnId)
      copy(metadata = next, lastAddedSchemaId = Some(id))
    case SetCurrentSchema(id) => updateMetadata(Schemas.setCurrent(_, resolveId(id, lastAddedSchemaId, "schema")))
    case AddPartitionSpec(spec) =>
      val (next, id) = Specs.add(metadata, spec)
      copy(metadata = next, lastAddedSpecId = Some(id))
    case SetDefaultSpec(id) => updateMetadata(Specs.setDefault(_, resolveId(id, lastAddedSpecId, "partition spec")))
    case RemovePartitionSpecs(ids) => updateMetadata(Specs.remove(_, ids))
    case RemoveSchemas(ids) => updateMetadata(Schemas.remove(_, ids))
    case AddSortOrder(order) =>
      val (next, id) = SortOrders.add(metadata, order)
      copy(metadata = next, lastAddedOrderId = Some(id))
    case SetDefaultSortOrder(id) =>
      updateMetadata(SortOrders.setDefault(_, resolveId(id, lastAddedOrderId, "sort order")))
    case AddSnapshot(snapshot) =>
      copy(metadata = Snapshots.add(metadata, snapshot), addedSnapshots = addedSnapshots :+ snapshot)
    case RemoveSnapshots(ids) => updateMetadata(Snapshots.remove(_, ids))
    case SetSnapshotRef(name, ref) => updateMetadata(Snapshots.setRef(_, name, ref, logTime(ref.snapshotId)))
    case RemoveSnapshotRef(name) => updateMetadata(Snapshots.removeRef(_, name))
    case SetProperties(properties) => updateMetadata(WholeTableUpdates.setProperties(_, properties))
    case RemoveProperties(keys) => updateMetadata(m => m.copy(properties = m.properties -- keys))
    case SetLocation(location) => updateMetadata(_.copy(location = location))
    case SetStatistics(file) => updateMetadata(StatisticsFiles.set(_, file))
    case RemoveStatistics(id) => updateMetadata(StatisticsFiles.remove(_, id))
    case SetPartitionStatistics(file) => updateMetadata(StatisticsFiles.setPartition(_, file))
    case RemovePartitionStatistics(id) => updateMetadata(StatisticsFiles.removePartition(_, id))
    case AddEncryptionKey(key) => updateMetadata(WholeTableUpdates.addKey(_, key))
    case RemoveEncryptionKey(id) => updateMetadata(WholeTableUpdates.removeKey(_, id))
    case added: AddExpression => updateMetadata(TableExpressions.add(_, added))
    case CopyExpressions(expressions) => updateMetadata(TableExpressions.copy(_, expressions))
    case RemoveExpression(id) => updateMetadata(TableExpressions.remove(_, id))
  }

  private def resolveId(id: Int, lastAdded: Option[Int], kind: String): Int =
    if (id != LastAdded) id
    else lastAdded.getOrElse(throw ValidationFailed(s"Cannot use the last added $kind: the change adds no $kind"))

  /**
   * Returns the time at which a snapshot became the current snapshot. For a new snapshot, this is the timestamp of the
   * snapshot. For an existing snapshot, it is the time of the change.
   */
  private def logTime(snapshotId: Long): Long =
    addedSnapshots.find(_.snapshotId == snapshotId).fold(nowMs)(_.timestampMs)

  private def result(base: TableMetadata): TableMetadata = {
    val updatedMs = addedSnapshots.lastOption.fold(nowMs)(_.timestampMs)
    // The clocks of two machines may differ slightly. Larger differences are rejected, because time travel requires
    // that the entries of the snapshot log are in the order of their timestamps.
    if (updatedMs < base.lastUpdatedMs - Snapshots.ClockToleranceMs) {
      throw ValidationFailed(
        s"The time of this commit, $updatedMs, is before the table's last update, ${base.lastUpdatedMs}. " +
          "Correct this machine's clock"
      )
    }
    val next = metadata.copy(lastUpdatedMs = updatedMs, snapshotLog = logWithoutIntermediates)
    val isNew = base eq MetadataBuilder.Empty
    if (isNew) Encryption.checkNew(next) else Encryption.checkUnchanged(base, next)
    if (isNew || MetadataBuilder.structureOf(next) != MetadataBuilder.structureOf(base))
      MetadataBuilder.checkComplete(next)
    next
  }

  /**
   * Returns the snapshot log without the intermediate snapshots of a change that combines several commits, because
   * these snapshots were never visible as the current snapshot.
   */
  private def logWithoutIntermediates: Vector[SnapshotLogEntry] = {
    val added = addedSnapshots.map(_.snapshotId).toSet -- metadata.currentSnapshotId
    if (added.isEmpty) metadata.snapshotLog else metadata.snapshotLog.filterNot(e => added(e.snapshotId))
  }
}

private[spec] object MetadataBuilder {

  def apply(base: TableMetadata, updates: Seq[MetadataUpdate], nowMs: Long): TableMetadata = {
    TableExpressions.requirePresent(base)
    updates.foldLeft(new MetadataBuilder(base, nowMs)) { (builder, update) =>
      // The expressions are added after each update, so that later updates of the same change cannot use their ids for
      // columns.
      builder.applyUpdate(update).updateMetadata(TableExpressions.complete)
    }.result(base)
  }

  /** The initial state of a new table, which is not a valid table itself. */
  val Empty: TableMetadata = TableMetadata(
    formatVersion = FormatVersion.V1,
    uuid = None,
    location = "",
    lastSequenceNumber = 0,
    lastUpdatedMs = 0,
    lastColumnId = 0,
    schemas = Vector.empty,
    currentSchemaId = LastAdded,
    specs = Vector.empty,
    defaultSpecId = LastAdded,
    lastPartitionId = PartitionSpec.FirstFieldId - 1,
    sortOrders = Vector.empty,
    defaultSortOrderId = LastAdded,
    properties = Map.empty,
    currentSnapshotId = None,
    snapshots = Vector.empty,
    snapshotLog = Vector.empty,
    metadataLog = Vector.empty,
    refs = Map.empty
  )

  /**
   * Returns the parts of the metadata that [[checkComplete]] checks. These parts are checked only if a change modifies
   * them. Therefore, if another writer has written invalid metadata, data can still be written.
   */
  private def structureOf(m: TableMetadata): (String, Int, Int, Int) =
    (m.location, m.currentSchemaId, m.defaultSpecId, m.defaultSortOrderId)

  /**
   * Checks that the table has a location, and that the current schema, the default partition spec and the default sort
   * order exist. Also checks that the columns are valid for the default partition spec and the default sort order.
   */
  private def checkComplete(m: TableMetadata): Unit = {
    if (m.location.isEmpty) throw InvalidArgument("location", "''", "A table must have a location")
    val schema = m.schemasById.getOrElse(m.currentSchemaId, throw missing(ObjectKind.Schema, m.currentSchemaId))
    val spec = m.specsById.getOrElse(m.defaultSpecId, throw missing(ObjectKind.PartitionSpec, m.defaultSpecId))
    val order = m.sortOrders.find(_.orderId == m.defaultSortOrderId)
      .getOrElse(throw missing(ObjectKind.SortOrder, m.defaultSortOrderId))
    SourceCheck.checkPartitionSpec(schema, spec)
    SourceCheck.checkSortOrder(schema, order)
  }

  private def missing(kind: ObjectKind, id: Int): IcebergError =
    NotFound(kind, id.toString, s"The change must add the ${kind.noun} before it uses the ${kind.noun}")
}
