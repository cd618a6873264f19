package iceberglite.sim

import iceberglite.spec.expr.Expression
import iceberglite.spec.expr.Expression.Equal
import iceberglite.spec.expr.Term.Named
import iceberglite.spec.types.Literal.StringLiteral
import iceberglite.table.{Isolation, IsolationLevel}
import iceberglite.table.action.{DeleteFiles, OverwriteFiles, ReplacePartitions}

/** Operations that remove whole files. */
object OverwriteWork {

  /** Chooses an isolation level for each operation. */
  private def isolation(desk: Desk): Option[IsolationLevel] =
    desk.oneOf(None +: IsolationLevel.all.map(Some(_))).flatten

  private def since(desk: Desk, level: Option[IsolationLevel]): Option[Isolation] =
    level.map(Isolation(_, desk.metadata.currentSnapshotId))

  def in(category: String): Expression = Equal(Named("category"), StringLiteral(category))

  private object Overwrite extends Work {
    override def name: String = "overwrite"

    override def plan(desk: Desk): Option[Plan] = {
      val (category, level) = (desk.category(), isolation(desk))
      val files = Vector(desk.newFile(category))
      val action = new OverwriteFiles(in(category), files.map(_.file), since(desk, level))
      Some(Plan(Vector(action), Vector(Effect.Overwritten(category, files, level))))
    }
  }

  private object Delete extends Work {
    override def name: String = "delete by filter"

    override def plan(desk: Desk): Option[Plan] = {
      val (category, level) = (desk.category(), isolation(desk))
      val action = new DeleteFiles(in(category), since(desk, level))
      Some(Plan(Vector(action), Vector(Effect.Overwritten(category, Vector.empty, level))))
    }
  }

  private object Replace extends Work {
    override def name: String = "replace partitions"

    override def plan(desk: Desk): Option[Plan] = {
      val (files, level) = (desk.newFiles(), isolation(desk))
      val action = new ReplacePartitions(files.map(_.file), since(desk, level))
      Some(Plan(Vector(action), Vector(Effect.PartitionsReplaced(files, level))))
    }
  }

  val all: Seq[Work] = Seq(Overwrite, Delete, Replace)
}
