package iceberglite.spark.read.planning

import iceberglite.scan.FileScanTask
import iceberglite.spec.expr.Expression
import iceberglite.spec.expr.Expression.AlwaysFalse

/**
 * The files that a row-level statement has read.
 *
 * @param tasks the data files, with the delete files that apply to them
 * @param filter a condition that all rows affected by the statement satisfy
 */
final private[iceberglite] case class StatementFiles(tasks: Vector[FileScanTask], filter: Expression) {

  /**
   * Returns the number of remaining rows. It is absent if it is unknown: deletes other than deletion vectors apply, or
   * a manifest entry has no valid record count.
   */
  def liveRecords: Option[Long] =
    if (tasks.forall(task => task.hasLiveRecords && task.deletes.forall(_.isVector)))
      Some(tasks.iterator.map(_.liveRecords).sum)
    else None
}

private[iceberglite] object StatementFiles {

  /** The files of a statement whose condition is never true. Spark does not read the table for such a statement. */
  val Empty: StatementFiles = StatementFiles(Vector.empty, AlwaysFalse)
}
