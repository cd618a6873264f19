package iceberglite.table.action

import iceberglite.spec.IcebergError.{InvalidArgument, NotFound, ValidationFailed}
import iceberglite.spec.ObjectKind
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.metadata.SnapshotRef.{Branch, Main, Tag}
import iceberglite.spec.update.MetadataUpdate.SetSnapshotRef
import iceberglite.spec.update.Requirement.AssertRefSnapshotId
import iceberglite.table.{Change, CommitContext, MetadataAction}

/** Sets the current snapshot. The new current snapshot need not be related to the previous one. */
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
      throw NotFound(
        ObjectKind.BranchOrTag,
        to,
        s"The branches and tags are ${base.refs.keys.toVector.sorted.mkString(", ")}"
      )
    ).snapshotId
    base.refs.get(branch) match {
      case Some(tag: Tag) =>
        throw InvalidArgument("branch", branch, s"It is a ${tag.kind}, and only branches can be fast-forwarded")
      case Some(b: Branch) if !base.ancestors(base.snapshot(target)).exists(_.snapshotId == b.snapshotId) =>
        throw ValidationFailed(
          s"Cannot fast-forward the branch $branch of ${context.table}: its head is not an ancestor of $to. " +
            "Cherry-pick the missing snapshots, or replace the branch"
        )
      case _ => MoveBranch(base, branch, target)
    }
  }
}

/** Sets the head of a branch, without changing the branch's retention. A missing branch is created. */
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
