package iceberglite.sim

import iceberglite.table.Action
import iceberglite.table.action.{FastAppend, MergeAppend}

/** Operations that add rows. */
object AppendWork {
  private class Append(val name: String, action: Vector[PretendedFile] => Action) extends Work {
    override def weight: Int = 6

    override def plan(desk: Desk): Option[Plan] = {
      val files = desk.newFiles()
      Some(Plan(Vector(action(files)), Vector(Effect.Added(files))))
    }
  }

  /** Two appends that become visible together. */
  private object TwoAppends extends Work {
    override def name: String = "two appends"

    override def plan(desk: Desk): Option[Plan] = {
      val (one, other) = (desk.newFiles(), desk.newFiles())
      val actions = Vector(new FastAppend(one.map(_.file)), new MergeAppend(other.map(_.file)))
      Some(Plan(actions, Vector(Effect.Added(one), Effect.Added(other))))
    }
  }

  val all: Seq[Work] = Seq(
    new Append("fast append", files => new FastAppend(files.map(_.file))),
    new Append("append", files => new MergeAppend(files.map(_.file))),
    TwoAppends
  )
}
