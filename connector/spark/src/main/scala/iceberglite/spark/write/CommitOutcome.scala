package iceberglite.spark.write

import iceberglite.spec.IcebergError
import iceberglite.spec.IcebergError.CommitStateUnknown
import iceberglite.table.Table
import iceberglite.table.action.Action

/** What is known of the one commit of a write. */
final private[write] class CommitOutcome {
  @volatile private var maybe = false

  /** Whether the table may refer to the files of the write. */
  def maybeCommitted: Boolean = maybe

  /**
   * @param action absent where there is nothing to commit
   * @param first what comes before it in the same commit
   */
  def commit(
      table: Table,
      summary: Map[String, String],
      action: Option[Action],
      first: Option[Action] = None
  ): Unit = if (action.isDefined) {
    val transaction = table.transaction(summary)
    (first ++ action).foreach(transaction.add)
    maybe = true
    try transaction.commit()
    catch {
      case unknown: CommitStateUnknown => throw unknown
      // A definite answer. Whatever else comes, such as an interrupt, may come after the commit as well.
      case failure: IcebergError =>
        maybe = false
        throw failure
    }
  }
}
