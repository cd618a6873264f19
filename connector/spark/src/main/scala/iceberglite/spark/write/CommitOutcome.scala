package iceberglite.spark.write

import org.slf4j.LoggerFactory

import iceberglite.spec.IcebergError
import iceberglite.spec.IcebergError.{AlreadyCommitted, CommitStateUnknown}
import iceberglite.table.Table
import iceberglite.table.action.{Action, RecordApplication}

/** What is known of the one commit of a write. */
final private[write] class CommitOutcome {
  @volatile private var maybe = false

  /** Whether the table may refer to the files of the write. */
  def maybeCommitted: Boolean = maybe

  /**
   * @param action absent where nothing changes
   * @param once notes that the write is done, also one that changes nothing
   * @param first what comes before the action in the same commit
   * @return whether the table has what was written: not if it had it before, from the same application
   */
  def commit(
      table: Table,
      summary: Map[String, String],
      action: Option[Action],
      once: Option[RecordApplication],
      first: Option[Action] = None
  ): Boolean = {
    val actions = once ++ action.toSeq.flatMap(first.toSeq :+ _)
    actions.isEmpty || committed(table, summary, actions)
  }

  private def committed(table: Table, summary: Map[String, String], actions: Iterable[Action]): Boolean = {
    val transaction = table.transaction(summary)
    actions.foreach(transaction.add)
    maybe = true
    try {
      transaction.commit()
      true
    } catch {
      case done: AlreadyCommitted =>
        maybe = false
        CommitOutcome.log.warn(done.getMessage)
        false
      case unknown: CommitStateUnknown => throw unknown
      // A definite answer. Whatever else comes, such as an interrupt, may come after the commit as well.
      case failure: IcebergError =>
        maybe = false
        throw failure
    }
  }
}

private object CommitOutcome {
  private val log = LoggerFactory.getLogger("iceberglite.spark.write.CommitOutcome")
}
