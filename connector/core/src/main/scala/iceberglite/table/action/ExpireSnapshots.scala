package iceberglite.table.action

import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.AtomicBoolean

import scala.collection.JavaConverters._

import iceberglite.encryption.TableKeys
import iceberglite.spec.IcebergError.{InvalidArgument, NotFound, ValidationFailed}
import iceberglite.spec.ObjectKind
import iceberglite.spec.file.{Content, ManifestContent}
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.property.TableProperty
import iceberglite.spec.table.{Expiration, Retention}
import iceberglite.spec.update.MetadataUpdate
import iceberglite.spec.update.MetadataUpdate.{RemovePartitionSpecs, RemoveSchemas}
import iceberglite.spec.update.Requirement.{AssertCurrentSchemaId, AssertDefaultSpecId, AssertRefSnapshotId}
import iceberglite.table.{Change, CommitContext, MetadataAction, StreamConsumer}
import iceberglite.tree.{FilePart, MetadataTree}

/**
 * Options that determine which snapshots expire.
 *
 * @param olderThanMs snapshots before this time expire, in milliseconds since the epoch; by default, the table property
 *   `history.expire.max-snapshot-age-ms` determines the time. A branch with its own maximum age is not affected
 * @param retainLast minimum number of snapshots to keep for each branch; by default the table property
 *   `history.expire.min-snapshots-to-keep`, but at most `maxSnapshots`. A branch with its own minimum is not affected
 * @param snapshotIds snapshots that expire regardless of their age
 * @param cleanMetadata whether to remove schemas and partition specs that no remaining snapshot needs, and statistics
 *   of snapshots that are not in the table's metadata
 * @param maxSnapshots maximum number of snapshots to keep for each branch, regardless of their age; by default the
 *   table property `iceberg-lite.max-snapshots-to-keep`. A branch keeps its own minimum number
 * @throws iceberglite.spec.IcebergError.InvalidArgument if a number is less than 1, or if `maxSnapshots` is less than
 *   `retainLast`
 */
final case class ExpireOptions(
    olderThanMs: Option[Long] = None,
    retainLast: Option[Int] = None,
    snapshotIds: Set[Long] = Set.empty,
    cleanMetadata: Boolean = false,
    maxSnapshots: Option[Int] = None
) {
  retainLast.filter(_ < 1).foreach { count =>
    throw InvalidArgument("retain_last", count.toString, "It must be 1 or more: the head of a branch never expires")
  }
  maxSnapshots.filter(_ < retainLast.getOrElse(1)).foreach { count =>
    throw InvalidArgument("max_snapshots", count.toString, s"It must be ${retainLast.getOrElse(1)} or more")
  }

  /** Returns the retention of a table under these options. */
  def retention(base: TableMetadata, nowMs: Long): Retention = {
    val ofTable = Retention.of(base, nowMs)
    ofTable.copy(
      olderThanMs = olderThanMs.getOrElse(ofTable.olderThanMs),
      minSnapshotsToKeep =
        retainLast.getOrElse(math.min(ofTable.minSnapshotsToKeep, maxSnapshots.getOrElse(Int.MaxValue))),
      maxSnapshotsToKeep = maxSnapshots.orElse(ofTable.maxSnapshotsToKeep)
    )
  }
}

/**
 * Removes expired snapshots, branches and tags from the table's metadata (spec: "Snapshot Retention Policy"). If
 * another commit comes first, the expired snapshots are determined again from the newer version.
 *
 * The action deletes no files. The package `iceberglite.maintenance.expire` deletes them.
 */
final class ExpireSnapshots(options: ExpireOptions) extends MetadataAction {
  private var last: Option[(TableMetadata, TableMetadata)] = None

  /** Returns the table's metadata before and after the last evaluation of [[changeFor]]. */
  def versions: (TableMetadata, TableMetadata) =
    last.getOrElse(throw new IllegalStateException("changeFor has not been called"))

  override def changeFor(base: TableMetadata, context: CommitContext): Change = {
    // A snapshot that a concurrent commit has removed since the first attempt need not be removed again.
    val existing = if (last.isEmpty) options.snapshotIds else options.snapshotIds.filter(base.snapshotsById.contains)
    val remaining = options.copy(snapshotIds = existing)
    val expiration = ExpireSnapshots.expired(remaining, base, context.table, context.environment.nowMs())
    val removals =
      expiration.updates ++ (if (options.cleanMetadata) unused(base, expiration, context) else Vector.empty)
    val updates = TableKeys.withoutUnusedKeys(base, removals, context.environment.nowMs())
    last = Some(base -> MetadataUpdate.applyAll(base, updates, context.environment.nowMs()))
    val requirements = base.refs.toVector.sortBy(_._1).map { case (name, ref) =>
      AssertRefSnapshotId(name, Some(ref.snapshotId))
    }
    val current = Vector(AssertCurrentSchemaId(base.currentSchemaId), AssertDefaultSpecId(base.defaultSpecId))
    Change(
      updates,
      if (updates.isEmpty) Vector.empty else if (options.cleanMetadata) requirements ++ current else requirements
    )
  }

  /**
   * Returns the updates that remove statistics without a snapshot, and schemas and partition specs that no remaining
   * snapshot refers to. All schemas are kept if a remaining snapshot has equality deletes, or if the current schema
   * lacks a source column of a partition spec that is kept. In these cases, an unreferenced schema may be the only
   * schema with a needed column.
   */
  private def unused(base: TableMetadata, expired: Expiration, context: CommitContext): Vector[MetadataUpdate] = {
    val kept = base.snapshots.filterNot(s => expired.snapshotIds(s.snapshotId))
    val table = context.tree(base)
    val deletes = new ConcurrentHashMap[String, FilePart]
    val specIdsOfParts = table.pool.map(kept) { snapshot =>
      val parts = MetadataTree.at(snapshot, table).parts
      parts.filter(_.content == ManifestContent.Deletes).foreach(part => deletes.putIfAbsent(part.id, part))
      parts.map(_.specId).toSet
    }
    val specIds = specIdsOfParts.flatten.toSet + base.defaultSpecId
    val sources = base.specs.filter(s => specIds(s.specId)).flatMap(_.fields).flatMap(_.sourceIds).toSet
    val unusedSpecs = base.specs.map(_.specId).toSet -- specIds
    val unreferenced = base.schemas.map(_.schemaId).toSet - base.currentSchemaId -- kept.flatMap(_.schemaId)
    val removable = unreferenced.nonEmpty && sources.forall(base.schema.byId.contains) &&
      !hasEqualityDeletes(deletes.values.asScala.toVector, context)
    Vector(RemovePartitionSpecs(unusedSpecs)).filter(_.specIds.nonEmpty) ++
      Vector(RemoveSchemas(unreferenced)).filter(_ => removable) ++ ExpireSnapshots.statisticsWithoutSnapshot(base)
  }

  /**
   * Returns whether any of the parts of metadata trees (manifests in format versions 1 to 3) lists a live equality
   * delete file. Position deletes need no check, because they refer to no column of the table.
   */
  private def hasEqualityDeletes(parts: Vector[FilePart], context: CommitContext): Boolean = {
    val found = new AtomicBoolean
    context.environment.pool.map(parts) { part =>
      if (!found.get && part.entries(context.io).exists(e => e.isLive && e.file.content == Content.EqualityDeletes))
        found.set(true)
    }
    found.get
  }
}

object ExpireSnapshots {

  /**
   * Returns the updates that remove the statistics of snapshots that are not in the metadata. This connector removes
   * statistics together with their snapshots, but other writers may leave some.
   */
  private def statisticsWithoutSnapshot(base: TableMetadata): Vector[MetadataUpdate] = {
    def withoutSnapshot(ids: Vector[Long]) = ids.distinct.filterNot(base.snapshotsById.contains)
    withoutSnapshot(base.statistics.map(_.snapshotId)).map(MetadataUpdate.RemoveStatistics(_)) ++
      withoutSnapshot(base.partitionStatistics.map(_.snapshotId)).map(MetadataUpdate.RemovePartitionStatistics(_))
  }

  /**
   * Returns the snapshots, branches and tags that expire. The age or number of snapshots does not cause the expiration
   * of a snapshot that a consumer of a stream (see `StreamConsumer`) has not read.
   *
   * @throws iceberglite.spec.IcebergError.NotFound if one of the given ids is not the id of a snapshot of the table
   * @throws iceberglite.spec.IcebergError.ValidationFailed if a remaining branch or tag refers to one of the given
   *   snapshots, if a consumer of a stream has not read the snapshots after one of them, or if `gc.enabled` is false
   */
  def expired(options: ExpireOptions, base: TableMetadata, table: String, nowMs: Long): Expiration = {
    if (!TableProperty.of(TableProperty.Gc, base.properties)) throw ValidationFailed(
      s"Cannot expire snapshots of $table: its property ${TableProperty.Gc.key} is false, because other tables may " +
        "use its files. Set the property to true if no other table uses them"
    )
    options.snapshotIds.find(id => !base.snapshotsById.contains(id)).foreach { id =>
      throw NotFound(ObjectKind.Snapshot, id.toString, s"$table does not have it, or it has expired")
    }
    val aged = options.retention(base, nowMs).expired(base, nowMs)
    for ((name, ref) <- base.refs if !aged.refs(name) && options.snapshotIds(ref.snapshotId)) throw ValidationFailed(
      s"Cannot expire snapshot ${ref.snapshotId} of $table: the ${ref.kind} $name refers to it. Drop the ${ref.kind} " +
        "or move it first"
    )
    val unread = StreamConsumer.unread(base, aged.refs)
    options.snapshotIds.find(unread).foreach { id =>
      throw ValidationFailed(
        s"Cannot expire snapshot $id of $table: a consumer of its streams has not read all later snapshots. The " +
          "procedure consumers lists the consumers, and drop_consumer removes one"
      )
    }
    aged.copy(snapshotIds = aged.snapshotIds -- unread ++ options.snapshotIds)
  }
}
