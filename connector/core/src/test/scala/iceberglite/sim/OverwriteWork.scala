package iceberglite.sim

import iceberglite.spec.expr.Expression
import iceberglite.spec.expr.Expression.Equal
import iceberglite.spec.expr.Term.Named
import iceberglite.spec.types.Literal.StringLiteral
import iceberglite.spec.property.IsolationLevel
import iceberglite.table.conflict.Isolation
import iceberglite.table.action.{DeleteFiles, OverwriteFiles, ReplacePartitions}

/** Operations of simulated writers that delete or overwrite the rows of a category or a partition. */
object OverwriteWork {

  /** Chooses an isolation level at random, or `None` for an operation without conflict checks. */
  private def isolation(state: WriterState): Option[IsolationLevel] =
    state.oneOf(None +: IsolationLevel.all.map(Some(_))).flatten

  private def since(state: WriterState, level: Option[IsolationLevel]): Option[Isolation] =
    level.map(Isolation(_, state.metadata.currentSnapshotId))

  /** Returns a filter on the partition column `category`. */
  def inCategory(category: String): Expression = Equal(Named("category"), StringLiteral(category))

  private object Overwrite extends Work {
    override def name: String = "overwrite"

    override def plan(state: WriterState): Option[Plan] = {
      val (category, level) = (state.category(), isolation(state))
      val files = Vector(state.newFile(category))
      val action = new OverwriteFiles(inCategory(category), files.map(_.file), since(state, level))
      Some(Plan(Vector(action), Vector(Effect.Overwritten(category, files, level))))
    }
  }

  private object Delete extends Work {
    override def name: String = "delete by filter"

    override def plan(state: WriterState): Option[Plan] = {
      val (category, level) = (state.category(), isolation(state))
      val action = new DeleteFiles(inCategory(category), since(state, level))
      Some(Plan(Vector(action), Vector(Effect.Overwritten(category, Vector.empty, level))))
    }
  }

  private object Replace extends Work {
    override def name: String = "replace partitions"

    override def plan(state: WriterState): Option[Plan] = {
      val (files, level) = (state.newFiles(), isolation(state))
      val action = new ReplacePartitions(files.map(_.file), since(state, level))
      Some(Plan(Vector(action), Vector(Effect.PartitionsReplaced(files, level))))
    }
  }

  val all: Seq[Work] = Seq(Overwrite, Delete, Replace)
}
