package iceberglite.sim

import iceberglite.spec.metadata.SnapshotRef.{Branch, Main, Tag}
import iceberglite.table.SnapshotTarget
import iceberglite.table.action.{
  CherryPick,
  FastAppend,
  FastForward,
  RemoveRef,
  RollbackToSnapshot,
  SetCurrentSnapshot,
  SetRef
}

/** Operations of simulated writers that change branches and tags, or set the current snapshot. */
object ReferenceWork {
  private object MakeTag extends Work {
    override def name: String = "tag"
    override def plan(state: WriterState): Option[Plan] = state.metadata.currentSnapshotId.map { id =>
      val tag = s"t_${state.operation}"
      Plan(Vector(new SetRef(tag, Tag(id))), hasChanges = _.refs.get(tag).contains(Tag(id)))
    }
  }

  private object MakeBranch extends Work {
    override def name: String = "branch"
    override def plan(state: WriterState): Option[Plan] = state.metadata.currentSnapshotId.map { id =>
      val branch = s"b_${state.operation}"
      Plan(Vector(new SetRef(branch, Branch(id, Some(3)))), hasChanges = _.refs.get(branch).exists(_.kind == "branch"))
    }
  }

  private object Remove extends Work {
    override def name: String = "remove a reference"
    override def plan(state: WriterState): Option[Plan] =
      state.oneOf(state.metadata.refs.keys.filterNot(_ == Main).toVector.sorted).map { ref =>
        Plan(Vector(new RemoveRef(ref), MetadataWork.marker(state)), hasChanges = !_.refs.contains(ref))
      }
  }

  private object SetCurrent extends Work {
    override def name: String = "set the current snapshot"
    override def weight: Int = 1
    override def plan(state: WriterState): Option[Plan] = state.oneOf(state.metadata.snapshots).map { snapshot =>
      val actions = Vector(new SetCurrentSnapshot(snapshot.snapshotId), MetadataWork.marker(state))
      Plan(actions, hasChanges = _.currentSnapshotId.contains(snapshot.snapshotId))
    }
  }

  private object Rollback extends Work {
    override def name: String = "roll back"
    override def weight: Int = 1
    override def plan(state: WriterState): Option[Plan] = {
      val history = state.metadata.currentSnapshot.toVector.flatMap(state.metadata.ancestors(_))
      state.oneOf(history.drop(1)).map { snapshot =>
        val actions = Vector(new RollbackToSnapshot(snapshot.snapshotId), MetadataWork.marker(state))
        Plan(actions, hasChanges = _.currentSnapshotId.contains(snapshot.snapshotId))
      }
    }
  }

  private object Forward extends Work {
    override def name: String = "fast-forward"
    override def plan(state: WriterState): Option[Plan] =
      state.oneOf(state.metadata.refs.keys.filter(_.startsWith("b_")).toVector.sorted).map { branch =>
        Plan(Vector(new FastForward(branch, Main), MetadataWork.marker(state)))
      }
  }

  /** Appends rows that only readers of the branch see. */
  private object AppendToBranch extends Work {
    override def name: String = "append to a branch"
    override def plan(state: WriterState): Option[Plan] = {
      val branches = state.metadata.refs.keys.filter(_.startsWith("b_")).toVector.sorted
      val files = state.newFiles()
      val to = SnapshotTarget.Branch(state.oneOf(branches).getOrElse(s"b_${state.operation}"), create = true)
      Some(Plan(Vector(new FastAppend(files.map(_.file), to)), Vector(Effect.Added(files))))
    }
  }

  /** Stages rows that are invisible until they are cherry-picked. */
  private object Stage extends Work {
    override def name: String = "stage"
    override def weight: Int = 3
    override def plan(state: WriterState): Option[Plan] = {
      val files = state.newFiles()
      Some(Plan(Vector(new FastAppend(files.map(_.file), SnapshotTarget.Staged)), Vector(Effect.Added(files))))
    }
  }

  /** Cherry-picks a snapshot that is staged or on a branch, but not on `main`. */
  private object Pick extends Work {
    override def name: String = "cherry-pick"
    override def weight: Int = 3
    override def plan(state: WriterState): Option[Plan] = {
      val main = state.metadata.currentSnapshot.toVector.flatMap(state.metadata.ancestors(_)).map(_.snapshotId).toSet
      val others = state.metadata.snapshots.filterNot(s => main(s.snapshotId)).filter(_.operation.contains("append"))
      state.oneOf(others).map { snapshot =>
        val actions = Vector(new CherryPick(snapshot.snapshotId), MetadataWork.marker(state))
        Plan(actions, Vector(Effect.Picked(state.appendedBy(snapshot))))
      }
    }
  }

  val all: Seq[Work] = Seq(MakeTag, MakeBranch, Remove, SetCurrent, Rollback, Forward, AppendToBranch, Stage, Pick)
}
