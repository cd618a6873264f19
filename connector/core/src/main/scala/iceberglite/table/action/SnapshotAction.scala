package iceberglite.table.action

import java.util.UUID

import iceberglite.spec.{FormatVersion, ObjectKind}
import iceberglite.spec.IcebergError.{NotFound, Unsupported}
import iceberglite.spec.file.ContentFile
import iceberglite.spec.metadata.{Operation, Snapshot, SnapshotRef, TableMetadata}
import iceberglite.spec.update.MetadataUpdate.{AddEncryptionKey, AddSnapshot, SetSnapshotRef}
import iceberglite.spec.update.Requirement.AssertRefSnapshotId
import iceberglite.table.{Action, _}
import iceberglite.tree.{FileChanges, ManifestCache, MetadataTree, NewSnapshotHeader, WrittenTree}

/**
 * An action that adds a snapshot. The action tracks the metadata files that its attempts wrote, so that a later attempt
 * can reuse the manifests of new files. Files that the committed snapshot does not need are deleted when the outcome is
 * known.
 */
abstract class SnapshotAction(to: SnapshotTarget) extends Action {

  /** The identity of the snapshot, which all attempts share, because reused manifests contain the snapshot id. */
  private var identity: Option[SnapshotAction.Identity] = None
  private var attempts = Vector.empty[WrittenTree]

  /**
   * Returns the changes to the files of `parent`, the head of the branch.
   *
   * @throws iceberglite.spec.IcebergError.ConcurrentChange if a concurrent change conflicts with this change
   * @throws iceberglite.spec.IcebergError.ValidationFailed if this change is not valid for the table
   */
  protected def changes(base: TableMetadata, parent: Option[Snapshot], context: CommitContext): FileChanges

  protected def operation(tree: WrittenTree): Operation

  /** Returns additional entries of the snapshot's summary, according to the last call of [[changes]]. */
  protected def summary: Map[String, String] = Map.empty

  /** Returns whether to commit a snapshot that changes no files. */
  protected def commitsEmpty: Boolean = true

  /** Returns the paths of the data and delete files that the action itself wrote, in any attempt. */
  protected def ownFiles: Set[String] = Set.empty

  override def writtenFiles: Vector[ContentFile] = Vector.empty

  final override def changeFor(base: TableMetadata, context: CommitContext): Change = {
    val parent = to.head(base)
    val changed = changes(base, parent, context)
    SnapshotAction.checkSpecs(base, changed.allAdded)
    val ids = identify(base, context)
    val table = context.tree(base)
    val cache = ManifestCache.of(context.io)
    val tree = MetadataTree.write(header(base, parent, ids), table, changed, attempts.lastOption, cache)
    attempts :+= tree
    if (!tree.changesFiles && !commitsEmpty) {
      abandoned(context)
      Change(Vector.empty, Vector.empty)
    } else {
      val key = for (keys <- table.keys; root <- tree.rootKey)
        yield keys.register(root, context.environment.nowMs())
      val change = changeOf(base, parent, snapshotOf(base, parent, ids, tree, context).copy(keyId = key.map(_.keyId)))
      Change(key.toVector.flatMap(_.added).map(AddEncryptionKey(_)), Vector.empty) ++ change
    }
  }

  private def changeOf(base: TableMetadata, parent: Option[Snapshot], snapshot: Snapshot): Change = to match {
    case SnapshotTarget.Staged => Change(Vector(AddSnapshot(snapshot)), Vector.empty)
    case SnapshotTarget.Branch(name, _) =>
      val existing = base.refs.get(name)
      val ref = existing match {
        case Some(branch: SnapshotRef.Branch) => branch.copy(snapshotId = snapshot.snapshotId)
        case _ => SnapshotRef.Branch(snapshot.snapshotId)
      }
      Change(
        Vector(AddSnapshot(snapshot), SetSnapshotRef(name, ref)),
        Vector(AssertRefSnapshotId(name, existing.flatMap(_ => parent).map(_.snapshotId)))
      )
  }

  private def identify(base: TableMetadata, context: CommitContext): SnapshotAction.Identity = {
    val ids = identity.filterNot(i => base.hasSnapshot(i.snapshotId)).getOrElse {
      // Another snapshot already has the id, so manifests that contain this id cannot be reused.
      deleteAttempts(context)
      SnapshotAction.Identity(SnapshotAction.unusedId(base, context.environment), context.environment.uuid())
    }
    identity = Some(ids)
    ids
  }

  private def header(base: TableMetadata, parent: Option[Snapshot], ids: SnapshotAction.Identity): NewSnapshotHeader =
    NewSnapshotHeader(
      ids.snapshotId,
      parent,
      SnapshotAction.sequenceNumber(base),
      if (base.formatVersion >= FormatVersion.V3) Some(base.nextRowId) else None,
      TableLocations.metadata(base),
      ids.commitId,
      attempts.size
    )

  private def snapshotOf(
      base: TableMetadata,
      parent: Option[Snapshot],
      ids: SnapshotAction.Identity,
      tree: WrittenTree,
      context: CommitContext
  ): Snapshot = {
    val entries = context.summary ++ summary + (CommitContext.CommitIdKey -> context.commitId)
    Snapshot(
      ids.snapshotId,
      parent.map(_.snapshotId),
      SnapshotAction.sequenceNumber(base),
      NextVersion.commitTime(base, context.environment.nowMs()),
      Some(tree.pointer),
      Vector.empty,
      SnapshotSummary.of(operation(tree), base, parent, tree, entries),
      Some(base.currentSchemaId),
      if (base.formatVersion >= FormatVersion.V3) Some(base.nextRowId) else None,
      tree.addedRows
    )
  }

  /**
   * Deletes the metadata, data and delete files that were written for this action but are not part of the committed
   * snapshot. If nothing was committed, all files are deleted. If the snapshot has already expired, no file is deleted,
   * because snapshot expiration and orphan file removal delete these files.
   */
  override def committed(metadata: TableMetadata, context: CommitContext): Unit =
    if (attempts.isEmpty) deleteUnused(ownFiles ++ writtenFiles.map(_.path), context)
    else for {
      snapshot <- snapshotIn(metadata)
      tree <- attempts.find(t => snapshot.manifestList.contains(t.pointer))
    } {
      val files = (ownFiles ++ writtenFiles.map(_.path)) -- tree.added.map(_.path)
      deleteUnused(attempts.flatMap(_.written).distinct.filterNot(tree.references) ++ files, context)
    }

  private def deleteUnused(paths: Iterable[String], context: CommitContext): Unit =
    context.environment.cleanup.deleteUnused(context.io, context.table, paths)

  /** Returns the snapshot of this action if a version of the table contains it. */
  private[iceberglite] def snapshotIn(metadata: TableMetadata): Option[Snapshot] =
    identity.flatMap(ids => metadata.findSnapshot(ids.snapshotId))

  override def hasExpiredIn: TableMetadata => Boolean = metadata =>
    identity.map(_.snapshotId).exists { id =>
      !metadata.hasSnapshot(id) &&
      (metadata.snapshots.exists(_.parentSnapshotId.contains(id)) || metadata.snapshotLog.exists(_.snapshotId == id))
    }

  override def abandoned(context: CommitContext): Unit = {
    deleteAttempts(context)
    Cleanup.delete(context.io, ownFiles)
  }

  private def deleteAttempts(context: CommitContext): Unit = {
    Cleanup.delete(context.io, attempts.flatMap(_.written).distinct)
    attempts = Vector.empty
  }
}

object SnapshotAction {

  /** The identity of the new snapshot. @param commitId an id that the names of the snapshot's files contain */
  final private case class Identity(snapshotId: Long, commitId: UUID)

  private def sequenceNumber(base: TableMetadata): Long =
    if (base.formatVersion == FormatVersion.V1) 0 else base.lastSequenceNumber + 1

  /** Returns a random positive id that no snapshot has. */
  private def unusedId(base: TableMetadata, environment: Environment): Long =
    Iterator.continually(environment.randomLong() & Long.MaxValue)
      .find(id => id > 0 && !base.hasSnapshot(id)).get

  /**
   * Rejects new files in partition specs with unknown transforms, because their partition values cannot be computed.
   * Version 3 of the specification forbids commits of data with such a partition spec.
   */
  private def checkSpecs(base: TableMetadata, added: Vector[ContentFile]): Unit =
    added.map(_.specId).distinct.foreach { id =>
      val spec = base.specsById.getOrElse(
        id,
        throw NotFound(
          ObjectKind.PartitionSpec,
          id.toString,
          s"The table has the partition specs ${base.specs.map(_.specId).mkString(", ")}"
        )
      )
      if (spec.hasUnknownTransform) {
        throw Unsupported(
          s"writing with the partition spec $spec",
          "The spec has a transform that this release does not support. Write with a newer release"
        )
      }
    }
}
