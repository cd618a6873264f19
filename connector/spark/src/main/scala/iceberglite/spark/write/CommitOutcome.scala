package iceberglite.spark.write

import org.slf4j.LoggerFactory

import iceberglite.spec.IcebergError
import iceberglite.spec.IcebergError.{AlreadyCommitted, CommitStateUnknown}
import iceberglite.table.{Action, Table}
import iceberglite.table.action.RecordApplication

/** The state of the single commit of a write. */
final private[iceberglite] class CommitOutcome {
  @volatile private var maybe = false

  /** Whether the table may refer to the files of the write. */
  def maybeCommitted: Boolean = maybe

  /**
   * Commits the write.
   *
   * @param action absent if nothing changes
   * @param once records the version of the write, even if it changes nothing
   * @param first an action that precedes the other in the same commit
   * @return whether the table contains the write; false if it already contained it from the same application
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
      // A definite answer. Any other exception, such as an interrupt, may occur after the commit.
      case failure: IcebergError =>
        maybe = false
        throw failure
    }
  }
}

private[iceberglite] object CommitOutcome {
  private val log = LoggerFactory.getLogger("iceberglite.spark.write.CommitOutcome")
}
