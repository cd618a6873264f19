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

  /** What became of rows, for the snapshot's summary. @param tasks what each has counted */
  def counted(tasks: Vector[RowCounts]): Map[String, String]
}

/** Rows come, and nothing is known of older versions of theirs. */
sealed private[write] trait NewRows extends WriteMode {
  override def counted(tasks: Vector[RowCounts]): Map[String, String] = Map.empty
}

private[write] object WriteMode {
  case object Append extends NewRows {
    override def action(added: Vector[ContentFile], isolation: Option[Isolation], to: Destination): Option[Action] =
      Some(new MergeAppend(added, to))
    override def toString: String = "append"
  }

  /** @param filter bound to the table's columns; whole files only */
  final case class OverwriteWhere(filter: Expression) extends NewRows {
    override def action(added: Vector[ContentFile], isolation: Option[Isolation], to: Destination): Option[Action] =
      Some(new OverwriteFiles(filter, added, isolation, to = to))
    override def toString: String = s"overwrite where $filter"
  }

  /**
   * What a statement has read, file by file.
   *
   * @param read known when its tasks are through
   * @param counts how rows are counted, where they are
   */
  final case class ReplaceRead(read: () => StatementFiles, counts: Option[CountedRows]) extends WriteMode {
    override def action(added: Vector[ContentFile], isolation: Option[Isolation], to: Destination): Option[Action] = {
      val files = read()
      val removed = files.tasks.map(_.file)
      if (added.isEmpty && removed.isEmpty) None
      else Some(
        new OverwriteFiles(AlwaysFalse, added, isolation, to = to, removed = removed, read = Some(files.filter))
      )
    }

    override def counted(tasks: Vector[RowCounts]): Map[String, String] =
      counts.fold(Map.empty[String, String])(_.summary(tasks.foldLeft(RowCounts.Zero)(_ + _), read().liveRecords))
    override def toString: String = "replace the files that were read"
  }

  case object OverwritePartitions extends NewRows {
    override def action(added: Vector[ContentFile], isolation: Option[Isolation], to: Destination): Option[Action] =
      Some(new ReplacePartitions(added, isolation, to))
    override def toString: String = "overwrite the partitions of the rows"
  }
}
