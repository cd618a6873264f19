package iceberglite.spark.write

import iceberglite.spark.read.planning.StatementFiles
import iceberglite.spec.expr.Expression
import iceberglite.spec.expr.Expression.AlwaysFalse
import iceberglite.spec.file.ContentFile
import iceberglite.table.{Action, SnapshotTarget}
import iceberglite.table.conflict.Isolation
import iceberglite.table.action.{FastAppend, MergeAppend, OverwriteFiles, ReplacePartitions}

/** The effect of a write on existing rows. */
sealed private[iceberglite] trait WriteMode {

  /**
   * Returns the action of the commit; absent if there is nothing to commit.
   *
   * @param isolation how an overwrite is validated against concurrent commits
   */
  def action(added: Vector[ContentFile], isolation: Option[Isolation], to: SnapshotTarget): Option[Action]

  /**
   * Returns the counts of changed rows for the snapshot's summary.
   *
   * @param tasks the counts of each task
   */
  def countSummary(tasks: Vector[RowCounts]): Map[String, String]
}

/** A write of new rows only, as opposed to new versions of existing rows. */
sealed private[write] trait NewRows extends WriteMode {
  override def countSummary(tasks: Vector[RowCounts]): Map[String, String] = Map.empty
}

private[iceberglite] object WriteMode {
  case object Append extends NewRows {
    override def action(added: Vector[ContentFile], isolation: Option[Isolation], to: SnapshotTarget): Option[Action] =
      Some(new MergeAppend(added, to))
    override def toString: String = "append"
  }

  /**
   * The append of a micro-batch. Without rows, there is nothing to commit.
   *
   * @param mergesManifests whether small manifests are merged; otherwise, each micro-batch adds a manifest
   */
  final case class MicroBatchAppend(mergesManifests: Boolean) extends NewRows {
    override def action(added: Vector[ContentFile], isolation: Option[Isolation], to: SnapshotTarget): Option[Action] =
      if (added.isEmpty) None
      else Some(if (mergesManifests) new MergeAppend(added, to) else new FastAppend(added, to))
    override def toString: String = "append"
  }

  /**
   * Replaces the files whose rows satisfy a filter.
   *
   * @param filter the filter, bound to the table's columns; in each file, either all rows or no rows satisfy the filter
   */
  final case class OverwriteWhere(filter: Expression) extends NewRows {
    override def action(added: Vector[ContentFile], isolation: Option[Isolation], to: SnapshotTarget): Option[Action] =
      Some(new OverwriteFiles(filter, added, isolation, to = to))
    override def toString: String = s"overwrite where $filter"
  }

  /**
   * Replaces the files that a statement has read.
   *
   * @param readFiles returns the files that the statement has read; called after the statement's tasks have finished
   * @param counting how changed rows are counted; absent if they are not counted
   */
  final case class ReplaceRead(readFiles: () => StatementFiles, counting: Option[RowCounting]) extends WriteMode {
    override def action(
        added: Vector[ContentFile],
        isolation: Option[Isolation],
        to: SnapshotTarget
    ): Option[Action] = {
      val files = readFiles()
      val removed = files.tasks.map(_.file)
      if (added.isEmpty && removed.isEmpty) None
      else Some(
        new OverwriteFiles(AlwaysFalse, added, isolation, to = to, removed = removed, read = Some(files.filter))
      )
    }

    override def countSummary(tasks: Vector[RowCounts]): Map[String, String] =
      counting.fold(Map.empty[String, String]) { c =>
        c.summary(tasks.foldLeft(RowCounts.Zero)(_ + _), readFiles().liveRecords)
      }

    override def toString: String = "replace the files that were read"
  }

  case object OverwritePartitions extends NewRows {
    override def action(added: Vector[ContentFile], isolation: Option[Isolation], to: SnapshotTarget): Option[Action] =
      Some(new ReplacePartitions(added, isolation, to))
    override def toString: String = "overwrite the partitions of the rows"
  }
}
