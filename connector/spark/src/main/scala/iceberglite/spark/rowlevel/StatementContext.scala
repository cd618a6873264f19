package iceberglite.spark.rowlevel

/**
 * The state that the rules, the scans and the write of one statement share. All other rules and operations are
 * functions of their inputs; this state exists because Spark offers no other way:
 *
 *   - Spark creates the operation of a statement from the table alone, without hints and the options of the relation.
 *     Spark treats plans that differ only in a table as equal, so that a rule cannot replace the table.
 *   - Spark gets the scan, the filter and the write of an operation by separate calls, and reads the table several
 *     times; all reads must use one version of the table.
 *   - Spark chooses the join of a MERGE after it has created the operation.
 *
 * A context belongs to one resolved target of a statement, and is used by the thread that plans it.
 */
final private[iceberglite] class StatementContext {
  @volatile private var currentAnalysis = StatementAnalysis()
  @volatile private var started = Option.empty[RowLevelStatement]
  @volatile private var joinPreservesTasks = false

  /** The properties of the statement that only its plan contains. They are complete when the plan is analyzed. */
  def analysis: StatementAnalysis = currentAnalysis

  def updateAnalysis(change: StatementAnalysis => StatementAnalysis): Unit = currentAnalysis = change(currentAnalysis)

  /**
   * The statement; absent before Spark has created its operation. Later reads of the table use the version of the table
   * that the statement has.
   */
  def startedStatement: Option[RowLevelStatement] = started

  def start(statement: RowLevelStatement): Unit = started = Some(statement)

  /**
   * Whether rows are written by the tasks that read them, so that the rows of a file are in few tasks. This is the case
   * if each row is processed individually. For a MERGE, this depends on the join that Spark chooses.
   */
  def writesInReadTasks: Boolean = currentAnalysis.isRowByRow || joinPreservesTasks

  /** Records that the join of a MERGE leaves the rows in the tasks that read them. */
  def setWritesInReadTasks(): Unit = joinPreservesTasks = true
}
