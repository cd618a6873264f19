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
final private[spark] case class StatementFiles(tasks: Vector[FileScanTask], filter: Expression)

private[spark] object StatementFiles {

  /** Of a statement whose condition no row can satisfy: Spark does not read the table then. */
  val None: StatementFiles = StatementFiles(Vector.empty, AlwaysFalse)
}
