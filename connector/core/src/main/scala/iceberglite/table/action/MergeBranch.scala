package iceberglite.table.action

import iceberglite.spec.IcebergError.{InvalidArgument, ValidationFailed}
import iceberglite.spec.file.ContentFile
import iceberglite.spec.metadata.{Snapshot, TableMetadata}
import iceberglite.spec.update.MetadataUpdate
import iceberglite.spec.update.Requirement.AssertRefSnapshotId
import iceberglite.table.{Action, _}

/**
 * The result of a merge of branches.
 *
 * @param previous the head of the target branch before the merge; absent if it had no snapshot
 * @param current the head of the target branch after the merge
 * @param commits the number of commits that the merge added to the target branch
 */
final case class MergedBranch(previous: Option[Long], current: Option[Long], commits: Int)

/**
 * Applies the commits of a branch to a target branch, in their order. If the target has no snapshot, or if its head is
 * an ancestor of the branch's head, the target is fast-forwarded. If not, each commit of the branch since the common
 * ancestor is applied again in a new snapshot, whose summary contains the id of the original snapshot as
 * `source-snapshot-id`. All new snapshots are committed together. Commits whose changes the target already contains are
 * omitted, so a merge can be repeated. The branch itself does not change.
 *
 * The changes of the two branches since their common ancestor must not overlap; see [[ReplayConflicts]].
 *
 * @throws iceberglite.spec.IcebergError.ConcurrentChange if the changes overlap; the message names both snapshots and a
 *   file
 * @throws ValidationFailed if the branches have no common ancestor in the metadata
 */
final class MergeBranch(branch: String, to: SnapshotTarget.Branch = SnapshotTarget.Main) extends Action {
  if (branch == to.name) throw InvalidArgument("branch", branch, "A branch cannot be merged into itself")
  private var replays = Map.empty[MergeBranch.Commit, ReplaySnapshot]
  private var result = MergedBranch(None, None, 0)

  /** Returns the result of the last attempt. */
  def merged: MergedBranch = result

  override def changeFor(base: TableMetadata, context: CommitContext): Change = {
    val (head, target) = (SnapshotTarget.Branch(branch).head(base), to.head(base))
    val commits = head.fold(Vector.empty[Snapshot])(base.ancestors(_).toVector)
    val known = target.fold(Vector.empty[Snapshot])(base.ancestors(_).toVector)
    val missing = commits.takeWhile(s => !known.headOption.exists(_.snapshotId == s.snapshotId))
    val isFastForward = target.forall(t => commits.exists(_.snapshotId == t.snapshotId))
    (head, target) match {
      case (Some(h), _) if isFastForward =>
        keep(Vector.empty, context)
        result = MergedBranch(target.map(_.snapshotId), Some(h.snapshotId), missing.size)
        MoveBranch(base, to.name, h.snapshotId)
      case (Some(h), Some(t)) => replay(base, context, pending(base, commits, known, context), h, t)
      case _ =>
        result = MergedBranch(target.map(_.snapshotId), target.map(_.snapshotId), 0)
        Change(Vector.empty, Vector.empty)
    }
  }

  /** Returns the commits to apply, oldest first. @param known the history of the target, newest first */
  private def pending(
      base: TableMetadata,
      commits: Vector[Snapshot],
      known: Vector[Snapshot],
      context: CommitContext
  ): Vector[MergeBranch.Commit] = {
    val knownIds = known.map(_.snapshotId).toSet
    val diverged = commits.takeWhile(s => !knownIds(s.snapshotId))
    if (diverged.isEmpty) Vector.empty
    else {
      val ancestor = diverged.last.parentSnapshotId.filter(knownIds).getOrElse(throw ValidationFailed(
        s"Cannot merge the branch $branch into ${to.name} of ${context.table}: the branches have no common snapshot. " +
          "It has expired, or the table was empty when the branch was created. Run the statements of the branch " +
          "again on a new branch"
      ))
      def origin(snapshot: Snapshot) = CherryPick.origin(snapshot, base)
      val sinceAncestor = known.takeWhile(_.snapshotId != ancestor)
      val done = sinceAncestor.map(origin).toSet
      val oldestFirst = diverged.reverse
      // Commits of the target that repeat earlier commits of the branch are not concurrent with a commit of the branch.
      oldestFirst.zipWithIndex.filterNot { case (commit, _) => done(origin(commit)) }.map { case (commit, i) =>
        val earlier = oldestFirst.take(i).map(origin).toSet
        MergeBranch.Commit(commit, ancestor, sinceAncestor.filter(s => earlier(origin(s))).map(_.snapshotId).toSet)
      }
    }
  }

  private def replay(
      base: TableMetadata,
      context: CommitContext,
      commits: Vector[MergeBranch.Commit],
      head: Snapshot,
      target: Snapshot
  ): Change = {
    keep(commits, context)
    val now = NextVersion.commitTime(base, context.environment.nowMs())
    val (merged, updates) = commits.foldLeft((base, Vector.empty[MetadataUpdate])) { case ((state, updates), commit) =>
      val change = replays(commit).changeFor(state, context)
      (MetadataUpdate.applyAll(state, change.updates, now), updates ++ change.updates)
    }
    result = MergedBranch(Some(target.snapshotId), to.head(merged).map(_.snapshotId), commits.size)
    Change(
      updates,
      if (updates.isEmpty) Vector.empty
      else Vector(
        AssertRefSnapshotId(to.name, Some(target.snapshotId)),
        AssertRefSnapshotId(branch, Some(head.snapshotId))
      )
    )
  }

  /** Keeps the replays of these commits from earlier attempts, and deletes the files of all others. */
  private def keep(commits: Vector[MergeBranch.Commit], context: CommitContext): Unit = {
    (replays -- commits).values.foreach(_.abandoned(context))
    replays = commits.map(c => c -> replays.getOrElse(c, new ReplaySnapshot(c, branch, to))).toMap
  }

  override def committed(metadata: TableMetadata, context: CommitContext): Unit =
    replays.values.foreach(_.committed(metadata, context))
  override def abandoned(context: CommitContext): Unit = replays.values.foreach(_.abandoned(context))
  override def writtenFiles: Vector[ContentFile] = Vector.empty
}

private[action] object MergeBranch {

  /**
   * A commit of the branch that the target lacks.
   *
   * @param ancestor the id of the newest snapshot that both branches have
   * @param own the ids of the target's snapshots that have the changes of earlier commits of the branch
   */
  final case class Commit(source: Snapshot, ancestor: Long, own: Set[Long])
}
