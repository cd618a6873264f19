package iceberglite.table.action

import iceberglite.spec.IcebergError.{InvalidArgument, NotFound, ValidationFailed}
import iceberglite.spec.ObjectKind
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.metadata.SnapshotRef.{Branch, Main, Tag}
import iceberglite.spec.update.MetadataUpdate.SetSnapshotRef
import iceberglite.spec.update.Requirement.AssertRefSnapshotId
import iceberglite.table.{Change, CommitContext, MetadataAction}

/** Sets the current snapshot. It need not be related to the previous current snapshot. */
final class SetCurrentSnapshot(snapshotId: Long) extends MetadataAction {
  override def changeFor(base: TableMetadata, context: CommitContext): Change = {
    base.snapshot(snapshotId)
    MoveBranch.main(base, snapshotId)
  }
}

/**
 * Fast-forwards a branch to the snapshot of another branch or tag. The branch's head must be an ancestor of this
 * snapshot. A missing branch is created.
 */
final class FastForward(branch: String, to: String) extends MetadataAction {
  override def changeFor(base: TableMetadata, context: CommitContext): Change = {
    val target = base.refs.getOrElse(
      to,
      throw NotFound(ObjectKind.BranchOrTag, to, s"There are ${base.refs.keys.toVector.sorted.mkString(", ")}")
    ).snapshotId
    base.refs.get(branch) match {
      case Some(tag: Tag) => throw InvalidArgument("branch", branch, s"It is a ${tag.kind}, which does not move")
      case Some(b: Branch) if !base.ancestors(base.snapshot(target)).exists(_.snapshotId == b.snapshotId) =>
        throw ValidationFailed(
          s"Cannot fast-forward the branch $branch of ${context.table}: it is not an ancestor of $to. " +
            "Cherry-pick what it lacks, or replace the branch"
        )
      case _ => MoveBranch(base, branch, target)
    }
  }
}

/** Sets a branch to a snapshot, without changing the branch's retention. */
private[action] object MoveBranch {
  def main(base: TableMetadata, snapshotId: Long): Change = apply(base, Main, snapshotId)

  def apply(base: TableMetadata, name: String, snapshotId: Long): Change = {
    val existing = base.refs.get(name)
    val ref = existing match {
      case Some(branch: Branch) => branch.copy(snapshotId = snapshotId)
      case _ => Branch(snapshotId)
    }
    Change(
      if (existing.exists(_.snapshotId == snapshotId)) Vector.empty else Vector(SetSnapshotRef(name, ref)),
      Vector(AssertRefSnapshotId(name, existing.map(_.snapshotId)))
    )
  }
}
