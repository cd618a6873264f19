package iceberglite.spark.maintenance

import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.atomic.AtomicInteger

import scala.collection.JavaConverters._
import scala.util.control.NonFatal

import org.apache.spark.sql.SparkSession
import org.slf4j.LoggerFactory

import iceberglite.maintenance.Deadline
import iceberglite.maintenance.compact.{GroupOptions, PartialProgress, RewriteGroup}
import iceberglite.spark.error.Causes
import iceberglite.spec.{IcebergError, Redaction}
import iceberglite.spec.IcebergError.CommitStateUnknown
import iceberglite.table.Table

/** Rewrites the groups of a rewrite in one or several commits. */
private[maintenance] object RewriteCommits {
  private val log = LoggerFactory.getLogger("iceberglite.spark.maintenance.RewriteCommits")

  /**
   * Rewrites groups in one commit, or with partial progress in several commits.
   *
   * @param empty the result of a rewrite without groups
   * @param deadline with partial progress, the time after which no further batch of groups is begun. Each batch has its
   *   own commit
   * @param failed returns the result of groups whose commit failed
   * @param rewrite rewrites groups and commits them. Returns the newest version of the table, and the result. Several
   *   threads call this function if groups are rewritten at the same time
   * @return the newest version of the table, and the result of all commits
   * @throws IcebergError if a commit failed or, with partial progress, if too many commits failed or if it is unknown
   *   whether a commit succeeded. If other commits have succeeded, the error has their result as a suppressed
   *   [[PartialCommitsException]]
   */
  def run[G <: RewriteGroup, R](
      session: SparkSession,
      table: Table,
      groups: Vector[G],
      options: GroupOptions,
      deadline: Option[Deadline],
      empty: R,
      failed: Vector[G] => R
  )(rewrite: Vector[G] => (Table, R))(combine: (R, R) => R): (Table, R) = options.partialProgress match {
    case _ if groups.isEmpty => (table, empty)
    case None => rewrite(groups)
    case Some(limits) =>
      val size = math.max(1, (groups.size + limits.maxCommits - 1) / limits.maxCommits)
      val batches = groups.grouped(size).toVector
      val failures = new AtomicInteger
      val committed = new ConcurrentLinkedQueue[R]
      val atOnce = math.max(1, options.maxConcurrentGroups / size)
      val attempts = withEarlierCommits(committed, combine)(ConcurrentSteps.map(session, batches, atOnce) { batch =>
        if (deadline.exists(_.hasPassed)) Attempt(isCommitted = false, empty)
        else {
          val done = attempt(table, limits, failures, rewrite, failed)(batch)
          if (done.isCommitted) committed.add(done.result)
          done
        }
      })
      // Threads commit in any order, so the newest version is loaded instead of taken from one of the attempts.
      val newest = if (attempts.exists(_.isCommitted)) table.refresh() else table
      (newest, attempts.map(_.result).foldLeft(empty)(combine))
  }

  /**
   * Runs `work`. If it fails, the result of the commits that have succeeded is added to the error, so that a caller can
   * report it.
   */
  private def withEarlierCommits[A, R](committed: ConcurrentLinkedQueue[R], combine: (R, R) => R)(work: => A): A =
    try work
    catch {
      case e: Throwable => throw PartialCommitsException.addTo(e, committed.asScala.reduceOption(combine))
    }

  /** Rewrites groups and commits them. @throws IcebergError if too many commits have failed */
  private def attempt[G <: RewriteGroup, R](
      table: Table,
      limits: PartialProgress,
      failures: AtomicInteger,
      rewrite: Vector[G] => (Table, R),
      failed: Vector[G] => R
  )(batch: Vector[G]): Attempt[R] =
    try Attempt(isCommitted = true, rewrite(batch)._2)
    catch {
      // Other errors, such as a cancelled job, end the rewrite. An unknown outcome of a commit also ends it, because
      // the commit may have replaced the files.
      case NonFatal(e) if isFailedCommit(e) =>
        if (failures.incrementAndGet() > limits.maxFailedCommits) throw e
        log.warn(Redaction(s"Could not rewrite ${batch.map(_.files).sum} files of ${table.name}: ${e.getMessage}"))
        Attempt(isCommitted = false, failed(batch))
    }

  /** Returns whether an error means that the files of a batch were certainly not rewritten. */
  private def isFailedCommit(error: Throwable): Boolean = {
    val causes = Causes.of(error).toVector
    causes.exists(_.isInstanceOf[IcebergError]) && !causes.exists(_.isInstanceOf[CommitStateUnknown])
  }

  /** The outcome of one of several commits. */
  final private case class Attempt[R](isCommitted: Boolean, result: R)
}
