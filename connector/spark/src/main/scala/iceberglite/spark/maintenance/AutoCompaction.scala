package iceberglite.spark.maintenance

import java.util.concurrent.ConcurrentHashMap

import scala.util.control.NonFatal

import org.apache.spark.sql.SparkSession
import org.slf4j.LoggerFactory

import iceberglite.maintenance.compact.{FileGroup, FileGroupBudget, RewriteOptions, PartitionsWithSmallFiles}
import iceberglite.spark.conf.AutoCompact
import iceberglite.spark.error.Causes
import iceberglite.spark.write.{CommitFollowUp, FollowUpRequest}
import iceberglite.spec.Redaction
import iceberglite.spec.metadata.Snapshot
import iceberglite.table.{SnapshotTarget, Table}

/**
 * Combines the small files of the partitions to which a write has added files, in the session of the write. The write
 * waits for the compaction, whose size is limited by options. A failure of the compaction is logged and does not affect
 * the write, whose commit is complete. If the compaction fails, it removes the files that it has written but not
 * committed.
 *
 * If another commit has changed the branch since the write, the table is not compacted; the writer of the later commit
 * may compact it. Within a JVM, an automatic compaction is skipped while another one of the same table is running. If
 * two applications compact the same files, the commit of one compaction fails.
 */
private[iceberglite] object AutoCompaction extends CommitFollowUp {
  private val log = LoggerFactory.getLogger("iceberglite.spark.maintenance.AutoCompaction")

  /** The tables that this JVM is compacting. */
  private val running = ConcurrentHashMap.newKeySet[String]

  override def run(committed: Table, request: FollowUpRequest): Unit = request.to match {
    case SnapshotTarget.Staged =>
    case branch: SnapshotTarget.Branch =>
      val key = committed.metadata.uuid.fold(committed.location)(_.toString)
      if (running.add(key))
        try attempt(committed, branch, request.autoCompact)
        finally running.remove(key)
  }

  private def attempt(committed: Table, to: SnapshotTarget.Branch, limits: AutoCompact): Unit =
    try compact(SparkSession.active, committed, to, limits)
    catch {
      case e: InterruptedException => warn(committed, e)
      case e: LinkageError => warn(committed, e)
      case NonFatal(e) => warn(committed, e)
    }

  private def warn(table: Table, error: Throwable): Unit = {
    log.warn(Redaction(s"The write to ${table.name} has succeeded, but the compaction after it has not: $error"))
    // If an interrupt has ended the compaction, the thread's interrupt flag is set again, so that the statement also
    // sees the interrupt.
    if (Causes.of(error).exists(_.isInstanceOf[InterruptedException])) Thread.currentThread.interrupt()
  }

  private def compact(
      session: SparkSession,
      committed: Table,
      to: SnapshotTarget.Branch,
      limits: AutoCompact
  ): Unit = {
    val newest = committed.refresh()
    val head = to.head(newest.metadata)
    if (head.map(_.snapshotId) == to.head(committed.metadata).map(_.snapshotId))
      head.foreach(compact(session, newest, _, to, limits))
  }

  /** Compacts the partitions to which the newest snapshot of a branch has added files. */
  private def compact(
      session: SparkSession,
      newest: Table,
      snapshot: Snapshot,
      to: SnapshotTarget.Branch,
      limits: AutoCompact
  ): Unit = {
    val budget = FileGroupBudget(limits.maxBytes, limits.maxFiles.toLong)
    val options =
      budget.limit(RewriteOptions.of(Map("min-input-files" -> limits.minInputFiles.toString), newest.metadata))
    val partitions = PartitionsWithSmallFiles.of(newest, snapshot, options)
    if (partitions.tuples.nonEmpty) {
      val select = { groups: Vector[FileGroup] =>
        budget.select(groups.filter(partitions.contains), options, newest.properties)
      }
      // The write waits for the compaction, so it does not also wait for the Bloom filters of the new files.
      val rewrite = new DataFileRewrite(session, newest, to, partitions.where, options, RowOrdering.Kept, select)
      val (_, result) = rewrite.run(extendsBloomIndex = false)
      log.info(s"Compacted ${result.rewrittenFiles} files of ${newest.name} to ${result.addedFiles} after a write")
    }
  }
}
