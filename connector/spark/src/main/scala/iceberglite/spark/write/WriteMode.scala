package iceberglite.spark.write

import iceberglite.spark.read.rows.StatementFiles
import iceberglite.spec.ContentFile
import iceberglite.spec.expr.Expression
import iceberglite.spec.expr.Expression.AlwaysFalse
import iceberglite.table.{Destination, Isolation}
import iceberglite.table.action.{Action, MergeAppend, OverwriteFiles, ReplacePartitions}

/** What becomes of the rows that are there. */
sealed private[write] trait WriteMode {

  /** Absent: there is nothing to commit. @param isolation what an overwrite checks of concurrent commits */
  def action(added: Vector[ContentFile], isolation: Option[Isolation], to: Destination): Option[Action]
}

private[write] object WriteMode {
  case object Append extends WriteMode {
    override def action(added: Vector[ContentFile], isolation: Option[Isolation], to: Destination): Option[Action] =
      Some(new MergeAppend(added, to))
    override def toString: String = "append"
  }

  /** @param filter bound to the table's columns; whole files only */
  final case class OverwriteWhere(filter: Expression) extends WriteMode {
    override def action(added: Vector[ContentFile], isolation: Option[Isolation], to: Destination): Option[Action] =
      Some(new OverwriteFiles(filter, added, isolation, to = to))
    override def toString: String = s"overwrite where $filter"
  }

  /** What a statement has read, file by file. @param read known when its tasks are through */
  final case class ReplaceRead(read: () => StatementFiles) extends WriteMode {
    override def action(added: Vector[ContentFile], isolation: Option[Isolation], to: Destination): Option[Action] = {
      val files = read()
      val removed = files.tasks.map(_.file)
      if (added.isEmpty && removed.isEmpty) None
      else Some(
        new OverwriteFiles(AlwaysFalse, added, isolation, to = to, removed = removed, read = Some(files.filter))
      )
    }
    override def toString: String = "replace the files that were read"
  }

  case object OverwritePartitions extends WriteMode {
    override def action(added: Vector[ContentFile], isolation: Option[Isolation], to: Destination): Option[Action] =
      Some(new ReplacePartitions(added, isolation, to))
    override def toString: String = "overwrite the partitions of the rows"
  }
}
