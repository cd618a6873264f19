package iceberglite.spark.rowlevel

/**
 * What the rules, the scans and the write of one statement tell each other. All other rules and operations are
 * functions of their inputs; this state exists because Spark offers no other way:
 *
 *   - Spark creates the operation of a statement from the table alone. It drops hints and the options of the relation,
 *     and two plans that differ only in a table are equal to it, so that a rule cannot replace the table.
 *   - Spark asks an operation for its scan, its filter and its write by separate calls, and reads the table several
 *     times; all must use one state of the table.
 *   - Spark chooses the join of a MERGE after it has created the operation.
 *
 * A context belongs to one resolved target of a statement, and is used by the thread that plans it.
 */
final private[iceberglite] class StatementContext {
  @volatile private var known = StatementAnalysis()
  @volatile private var begun = Option.empty[RowLevelStatement]
  @volatile private var stay = false

  /** What only the statement's plan shows; complete when the plan is analyzed. */
  def analysis: StatementAnalysis = known

  def learn(change: StatementAnalysis => StatementAnalysis): Unit = known = change(known)

  /** The statement, once Spark has created its operation: later reads of the table use its state. */
  def running: Option[RowLevelStatement] = begun

  def begin(statement: RowLevelStatement): Unit = begun = Some(statement)

  /**
   * Whether rows are written by the tasks that read them, so that those of a file are in a few tasks: if each row is
   * processed individually, and in a MERGE depending on the join that is chosen.
   */
  def rowsStay: Boolean = known.isRowByRow || stay

  /** Called for a MERGE whose join leaves the rows in the tasks that read them. */
  def keepRows(): Unit = stay = true
}
