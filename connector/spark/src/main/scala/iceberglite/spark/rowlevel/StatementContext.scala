package iceberglite.spark.rowlevel

import iceberglite.spark.read.planning.{RewritePacking, StatementFiles}
import iceberglite.spark.write.StatementRerun

/**
 * The state that the rules, the scans and the write of one statement share. Other information is passed as parameters
 * and results. For the information in this state, Spark offers no other way:
 *
 *   - Spark creates the operation of a statement from the table alone, without hints and the options of the relation.
 *     Spark treats plans that differ only in the table object as equal, so a rule cannot replace the table.
 *   - Spark requests the scan, the filter and the write of an operation by separate calls, and reads the table several
 *     times. All reads must use the same version of the table.
 *   - Spark chooses the join of a MERGE after it has created the operation.
 *
 * A context belongs to one resolved target of a statement, and is used by the thread that plans it. The following steps
 * happen in this order. Each step publishes information that later steps need:
 *
 *   1. The analyzer applies `PrepareRowLevelOperations`: [[publish]].
 *   1. The analyzer requests the operation of the statement from the table: [[start]].
 *   1. The optimizer applies `RewriteMergeJoin`: [[publishReadTasks]].
 *   1. The optimizer builds the scan of the operation, after it has pushed filters down: [[publishRead]].
 *   1. The optimizer builds the write: [[publishPacking]] for copy-on-write. Without a scan, the write reads no files.
 *   1. Before Spark runs the scan of copy-on-write, Spark passes the paths of the files with a row to change, once for
 *      each place where the plan uses the scan: [[restrictTo]].
 *   1. Spark requests the batch of the scan, which uses [[packing]] and [[selectedPaths]].
 *   1. Spark commits the write, which replaces the files of [[read]].
 *
 * @param isRerun whether an earlier run of the statement failed because of rewrites of files, such as compactions; that
 *   run then controls the reruns
 */
final private[iceberglite] class StatementContext(isRerun: Boolean = false) {
  @volatile private var currentAnalysis = StatementAnalysis()
  @volatile private var publishedRerun = Option.empty[StatementRerun]
  @volatile private var started = Option.empty[RowLevelStatement]
  @volatile private var joinPreservesTasks = false
  @volatile private var expectsExactVariants = false
  @volatile private var plannedRead = Option.empty[StatementRead]
  @volatile private var plannedPacking = Option.empty[RewritePacking]
  @volatile private var restriction = Option.empty[Set[String]]
  @volatile private var currentRerun = Option.empty[StatementContext]

  /** The properties of the statement that are determined from its plan. They are complete when the plan is analyzed. */
  def analysis: StatementAnalysis = currentAnalysis

  /**
   * Runs the statement again if only rewrites of files conflict with its commit; absent if the statement cannot be run
   * again, or if this context belongs to such a rerun.
   */
  def rerun: Option[StatementRerun] = publishedRerun.filterNot(_ => isRerun)

  def publish(analysis: StatementAnalysis, rerun: Option[StatementRerun]): Unit = {
    currentAnalysis = analysis
    publishedRerun = rerun
  }

  /**
   * The statement; absent before Spark has created its operation. Later reads use the version of the table in this
   * object.
   */
  def startedStatement: Option[RowLevelStatement] = currentRerun.fold(started)(_.startedStatement)

  /**
   * Makes all tables with this context read the version of the table that a further run of the statement reads. A
   * source or a subquery of the statement may contain the changed table, with the context of the first run.
   */
  def continueIn(rerun: StatementContext): Unit = currentRerun = Some(rerun)

  def start(statement: RowLevelStatement): Unit = started = Some(statement)

  /**
   * Whether each row reaches the write in the task that read it, without a shuffle. This is the case if each row is
   * processed individually. For a MERGE, it depends on the join that Spark chooses.
   */
  def writesInReadTasks: Boolean = currentAnalysis.isRowByRow || joinPreservesTasks

  /** Whether the plan of the statement expects variants in their exact form, so that rewritten rows keep them. */
  def readsExactVariants: Boolean = expectsExactVariants

  /** Records that the plan of the statement is adapted to variants in their exact form. */
  def publishExactVariants(): Unit = expectsExactVariants = true

  /** Records that the join of a MERGE does not shuffle the rows of the table. */
  def publishReadTasks(): Unit = joinPreservesTasks = true

  /** The read of the rows to change; absent if Spark does not read the table, because no row is needed. */
  def read: Option[StatementRead] = plannedRead

  def publishRead(read: StatementRead): Unit = plannedRead = Some(read)

  /** The packing of files into tasks for copy-on-write; if absent, files are packed as for ordinary scans. */
  def packing: Option[RewritePacking] = plannedPacking

  def publishPacking(packing: Option[RewritePacking]): Unit = plannedPacking = packing

  /** The paths of the files with a row to change; absent if Spark did not determine them. */
  def selectedPaths: Option[Set[String]] = restriction

  /**
   * Restricts the statement to the files with a row to change. Only the first call has an effect: an UPDATE with a
   * subquery scans the table twice, and must replace exactly the files that the first scan read.
   */
  def restrictTo(paths: => Set[String]): Unit = synchronized(if (restriction.isEmpty) restriction = Some(paths))
}

/** The read of the rows that a statement may change. */
private[rowlevel] trait StatementRead {

  /** The files that the statement reads. */
  def files: StatementFiles

  /** Whether a single task reads all files. */
  def isOneTask: Boolean
}
