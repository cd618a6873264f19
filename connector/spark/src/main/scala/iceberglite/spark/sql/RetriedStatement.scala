package iceberglite.spark.sql

import scala.annotation.tailrec
import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.connector.catalog.TableCatalog
import org.apache.spark.sql.execution.command.LeafRunnableCommand
import org.apache.spark.sql.iceberglite.Statements
import org.apache.spark.sql.{Row, SparkSession}
import org.slf4j.LoggerFactory

import iceberglite.spark.error.Causes
import iceberglite.spark.session.CatalogNames
import iceberglite.spec.IcebergError.{CommitConflict, CommitStateUnknown, ConcurrentChange}
import iceberglite.table.{Environment, RetryPolicy}

/**
 * Runs a statement, and runs it again after a commit conflict. Each run resolves and plans the statement with the
 * current version of the table. A statement is never retried after a commit with an unknown outcome.
 *
 * @param table the table's name as written
 * @param statement the parsed statement
 * @param retries maximum number of runs after the first
 */
final private[iceberglite] case class RetriedStatement(table: Seq[String], statement: LogicalPlan, retries: Int)
    extends LeafRunnableCommand {

  override def run(session: SparkSession): Seq[Row] = {
    RetriedStatement.retried(session, table, retries) { Statements.run(session, statement.clone()); () }
    Seq.empty
  }
}

private[iceberglite] object RetriedStatement {
  private val FirstWaitMs = 100L
  private val MaxWaitMs = 60000L
  private val log = LoggerFactory.getLogger("iceberglite.spark.sql.RetriedStatement")

  /** Returns a plan that retries a statement; if `retries` is 0, returns the statement itself. */
  def of(table: Seq[String], statement: LogicalPlan, retries: Int): LogicalPlan =
    if (retries == 0) statement else DeferredStatement(table, DeferredPlan(statement), retries)

  /**
   * Runs a statement, and runs it again after a commit conflict.
   *
   * @param table the table's name as written
   * @param retries maximum number of runs after the first
   */
  def retried(session: SparkSession, table: Seq[String], retries: Int)(statement: => Unit): Unit = {
    val policy = new RetryPolicy(retries, FirstWaitMs, MaxWaitMs, Long.MaxValue, Environment.system)
    @tailrec
    def attempt(): Unit = {
      val conflict =
        try {
          statement
          None
        } catch { case NonFatal(error) if isConflict(error) => Some(error) }
      conflict match {
        case Some(error) if !policy.waitForNext() => throw error
        case Some(error) =>
          log.info(s"Running a statement on ${table.mkString(".")} again: ${error.getMessage}")
          CatalogNames.resolve(session, table) match {
            case (catalog: TableCatalog, ident) => catalog.invalidateTable(ident)
            case _ =>
          }
          attempt()
        case None =>
      }
    }
    attempt()
  }

  /**
   * Whether a statement failed because of concurrent commits. False if the outcome of the statement's commit is
   * unknown.
   */
  private[iceberglite] def isConflict(error: Throwable): Boolean = {
    val causes = Causes.of(error).toSeq
    !causes.exists(_.isInstanceOf[CommitStateUnknown]) && causes.exists {
      case _: CommitConflict | _: ConcurrentChange => true
      case _ => false
    }
  }
}
