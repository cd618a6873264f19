package iceberglite.spark.maintenance

import scala.util.control.NonFatal

import org.slf4j.LoggerFactory

import iceberglite.maintenance.Deadline
import iceberglite.maintenance.compact.{PartialProgress, RewriteGroup}
import iceberglite.spark.error.Causes
import iceberglite.spec.{IcebergError, Redaction}
import iceberglite.table.Table

/** Divides the groups of a rewrite into commits. */
private[maintenance] object RewriteCommits {
  private val log = LoggerFactory.getLogger("iceberglite.spark.maintenance.RewriteCommits")

  /** The state between the commits of a rewrite. @param failures the number of failed commits */
  final private case class Progress[R](newest: Table, result: R, failures: Int)

  /**
   * Rewrites groups in one commit, or with partial progress in several commits.
   *
   * @param partial absent for a single commit
   * @param empty the result without groups
   * @param deadline with partial progress, no commit begins after it
   * @param failed returns the result of groups whose commit failed
   * @param rewrite rewrites groups and commits them. Returns the newest version of the table, and the result
   * @return the newest version of the table, and the result of all commits
   * @throws IcebergError a commit failed; with partial progress, too many commits failed
   */
  def run[G <: RewriteGroup, R](
      table: Table,
      groups: Vector[G],
      partial: Option[PartialProgress],
      deadline: Option[Deadline],
      empty: R,
      failed: Vector[G] => R
  )(rewrite: Vector[G] => (Table, R))(combine: (R, R) => R): (Table, R) = partial match {
    case _ if groups.isEmpty => (table, empty)
    case None => rewrite(groups)
    case Some(limits) =>
      def attempt(state: Progress[R], batch: Vector[G]): Progress[R] =
        try {
          val (newest, result) = rewrite(batch)
          Progress(newest, combine(state.result, result), state.failures)
        } catch {
          // A cancelled job ends the rewrite.
          case NonFatal(e) if Causes.of(e).exists(_.isInstanceOf[IcebergError]) =>
            if (state.failures + 1 > limits.maxFailedCommits) throw e
            log.warn(Redaction(s"Could not rewrite ${batch.map(_.files).sum} files of ${table.name}: ${e.getMessage}"))
            Progress(state.newest, combine(state.result, failed(batch)), state.failures + 1)
        }
      val batches = groups.grouped(math.max(1, (groups.size + limits.maxCommits - 1) / limits.maxCommits))
      val end = batches.takeWhile(_ => deadline.forall(!_.hasPassed)).foldLeft(Progress(table, empty, 0))(attempt)
      (end.newest, end.result)
  }
}
