package iceberglite.sim

import iceberglite.table.Action
import iceberglite.table.action.{FastAppend, MergeAppend}

/** Operations of simulated writers that add rows. */
object AppendWork {
  private class Append(val name: String, action: Vector[SimulatedFile] => Action) extends Work {
    override def weight: Int = 6

    override def plan(state: WriterState): Option[Plan] = {
      val files = state.newFiles()
      Some(Plan(Vector(action(files)), Vector(Effect.Added(files))))
    }
  }

  /** Commits two appends in one transaction. */
  private object TwoAppends extends Work {
    override def name: String = "two appends"

    override def plan(state: WriterState): Option[Plan] = {
      val (first, second) = (state.newFiles(), state.newFiles())
      val actions = Vector(new FastAppend(first.map(_.file)), new MergeAppend(second.map(_.file)))
      Some(Plan(actions, Vector(Effect.Added(first), Effect.Added(second))))
    }
  }

  val all: Seq[Work] = Seq(
    new Append("fast append", files => new FastAppend(files.map(_.file))),
    new Append("append", files => new MergeAppend(files.map(_.file))),
    TwoAppends
  )
}
