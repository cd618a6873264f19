package iceberglite.spark.write

import iceberglite.spec.ContentFile
import iceberglite.spec.expr.Expression
import iceberglite.table.{Destination, Isolation}
import iceberglite.table.action.{Action, MergeAppend, OverwriteFiles, ReplacePartitions}

/** What becomes of the rows that are there. */
sealed private[write] trait WriteMode {

  /** @param isolation what an overwrite checks of concurrent commits */
  def action(added: Vector[ContentFile], isolation: Option[Isolation], to: Destination): Action
}

private[write] object WriteMode {
  case object Append extends WriteMode {
    override def action(added: Vector[ContentFile], isolation: Option[Isolation], to: Destination): Action =
      new MergeAppend(added, to)
    override def toString: String = "append"
  }

  /** @param filter bound to the table's columns; whole files only */
  final case class OverwriteWhere(filter: Expression) extends WriteMode {
    override def action(added: Vector[ContentFile], isolation: Option[Isolation], to: Destination): Action =
      new OverwriteFiles(filter, added, isolation, to = to)
    override def toString: String = s"overwrite where $filter"
  }

  case object OverwritePartitions extends WriteMode {
    override def action(added: Vector[ContentFile], isolation: Option[Isolation], to: Destination): Action =
      new ReplacePartitions(added, isolation, to)
    override def toString: String = "overwrite the partitions of the rows"
  }
}
