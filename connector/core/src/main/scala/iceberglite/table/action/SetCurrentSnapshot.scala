package iceberglite.table.action

import iceberglite.spec.IcebergError.{InvalidArgument, NotFound, ValidationFailed}
import iceberglite.spec.MetadataUpdate.SetSnapshotRef
import iceberglite.spec.Requirement.AssertRefSnapshotId
import iceberglite.spec.SnapshotRef.{Branch, Main, Tag}
import iceberglite.spec.TableMetadata
import iceberglite.table.{Change, CommitContext}

/** Makes a snapshot the current one, whatever it descends from. */
final class SetCurrentSnapshot(snapshotId: Long) extends MetadataAction {
  override def describe(base: TableMetadata, context: CommitContext): Change = {
    base.snapshot(snapshotId)
    MoveBranch.main(base, snapshotId)
  }
}

/**
 * Moves a branch on to where another branch or a tag stands, if it has nothing that the other has not. A branch that is
 * not there is made.
 */
final class FastForward(branch: String, to: String) extends MetadataAction {
  override def describe(base: TableMetadata, context: CommitContext): Change = {
    val target = base.refs.getOrElse(
      to,
      throw NotFound("branch or tag", to, s"There are ${base.refs.keys.toVector.sorted.mkString(", ")}")
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

/** Sets a branch, which keeps its retention, to a snapshot. */
private[action] object MoveBranch {
  def main(base: TableMetadata, snapshotId: Long): Change = apply(base, Main, snapshotId)

  def apply(base: TableMetadata, name: String, snapshotId: Long): Change = {
    val at = base.refs.get(name)
    val ref = at match {
      case Some(branch: Branch) => branch.copy(snapshotId = snapshotId)
      case _ => Branch(snapshotId)
    }
    Change(
      if (at.exists(_.snapshotId == snapshotId)) Vector.empty else Vector(SetSnapshotRef(name, ref)),
      Vector(AssertRefSnapshotId(name, at.map(_.snapshotId)))
    )
  }
}
