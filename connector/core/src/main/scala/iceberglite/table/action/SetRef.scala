package iceberglite.table.action

import iceberglite.spec.IcebergError.{InvalidArgument, NotFound}
import iceberglite.spec.ObjectKind
import iceberglite.spec.metadata.{SnapshotRef, TableMetadata}
import iceberglite.spec.update.MetadataUpdate.{RemoveSnapshotRef, SetSnapshotRef}
import iceberglite.spec.update.Requirement.AssertRefSnapshotId
import iceberglite.table.{Change, CommitContext, MetadataAction}

/**
 * Creates a branch or tag, or changes its snapshot and retention. If another commit creates, moves or removes the
 * reference concurrently, the commit fails without a retry.
 */
final class SetRef(name: String, ref: SnapshotRef) extends MetadataAction {
  if (name.trim.isEmpty) throw InvalidArgument("name of a branch or tag", s"'$name'", "It must not be blank")
  private val baseRequirements =
    new BaseRequirements(base => Vector(AssertRefSnapshotId(name, base.refs.get(name).map(_.snapshotId))))

  override def changeFor(base: TableMetadata, context: CommitContext): Change = {
    val requirements = baseRequirements.require(base, context)
    base.snapshot(ref.snapshotId)
    val isUnchanged = base.refs.get(name).contains(ref)
    Change(
      if (isUnchanged) Vector.empty else Vector(SetSnapshotRef(name, SnapshotRef.checked(name, ref))),
      requirements
    )
  }
}

/** Removes a branch or tag. */
final class RemoveRef(name: String) extends MetadataAction {
  private val baseRequirements =
    new BaseRequirements(base => Vector(AssertRefSnapshotId(name, base.refs.get(name).map(_.snapshotId))))

  override def changeFor(base: TableMetadata, context: CommitContext): Change = {
    if (name == SnapshotRef.Main) throw InvalidArgument("branch", name, "The main branch cannot be removed")
    if (!base.refs.contains(name)) {
      throw NotFound(
        ObjectKind.BranchOrTag,
        name,
        s"The branches and tags are ${base.refs.keys.toVector.sorted.mkString(", ")}"
      )
    }
    Change(Vector(RemoveSnapshotRef(name)), baseRequirements.require(base, context))
  }
}
