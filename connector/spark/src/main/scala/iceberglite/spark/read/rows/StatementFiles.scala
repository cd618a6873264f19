package iceberglite.spark.read.rows

import iceberglite.scan.FileScanTask
import iceberglite.spec.expr.Expression
import iceberglite.spec.expr.Expression.AlwaysFalse

/**
 * What a statement that changes rows has read.
 *
 * @param tasks the data files, with the delete files that apply to them
 * @param filter what all the rows that the statement is about satisfy, unbound
 */
final private[spark] case class StatementFiles(tasks: Vector[FileScanTask], filter: Expression) {

  /** How many rows they have left; absent where other deletes than vectors apply, which do not tell how many they take. */
  def liveRecords: Option[Long] =
    if (tasks.forall(_.deletes.forall(_.isVector))) Some(tasks.iterator.map(_.liveRecords).sum) else None
}

private[spark] object StatementFiles {

  /** Of a statement whose condition no row can satisfy: Spark does not read the table then. */
  val Nothing: StatementFiles = StatementFiles(Vector.empty, AlwaysFalse)
}
