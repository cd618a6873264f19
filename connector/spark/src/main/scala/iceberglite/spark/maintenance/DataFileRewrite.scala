package iceberglite.spark.maintenance

import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.locks.ReentrantLock

import scala.collection.JavaConverters._
import scala.util.control.NonFatal

import org.apache.spark.sql.SparkSession
import org.slf4j.LoggerFactory

import iceberglite.maintenance.Deadline
import iceberglite.maintenance.compact.{
  DanglingDeletes,
  FileGroup,
  IncrementalCarrier,
  MovedRows,
  RewriteOptions,
  RewriteResult
}
import iceberglite.spark.conf.EngineSummary
import iceberglite.spark.error.Causes
import iceberglite.spark.write.WriteCommit
import iceberglite.spec.IcebergError.ValidationFailed
import iceberglite.spec.Redaction
import iceberglite.spec.expr.Expression
import iceberglite.spec.file.ContentFile
import iceberglite.spec.metadata.{Snapshot, SummaryKey, TableMetadata}
import iceberglite.table.{SnapshotTarget, Table}
import iceberglite.table.action.{DeleteCarrier, DeletedPositions, RewriteFiles}

/**
 * Rewrites data files, to change their size and the order of their rows, and to remove deleted rows from them.
 *
 * @param table the table at the version whose files are rewritten
 * @param where only files that may have a row that satisfies this condition are rewritten
 * @param select selects the file groups to rewrite among the groups that satisfy the options
 * @param deadline with partial progress, the time after which no further batch of file groups is begun; without partial
 *   progress, it has no effect
 */
final private[iceberglite] class DataFileRewrite(
    session: SparkSession,
    table: Table,
    to: SnapshotTarget,
    where: Expression,
    options: RewriteOptions,
    ordering: RowOrdering,
    select: Vector[FileGroup] => Vector[FileGroup] = identity,
    deadline: Option[Deadline] = None
) {
  import DataFileRewrite.log

  /** The lock that lets only one commit of partial progress run at a time. It guards [[newestOwn]]. */
  private val commits = new ReentrantLock

  /** The version of the table after the last commit of this rewrite. */
  private var newestOwn = table

  /** The paths of the new files. */
  private val added = ConcurrentHashMap.newKeySet[String]

  /** Returns the file groups that [[run]] would rewrite. */
  lazy val groups: Vector[FileGroup] = to.head(table.metadata).fold(Vector.empty[FileGroup]) { snapshot =>
    val unclustered = ordering match {
      case RowOrdering.Hilbert(columns, _, true) => Some(columns)
      case _ => None
    }
    val caseSensitive = session.sessionState.conf.caseSensitiveAnalysis
    select(FileGroup.plan(table, snapshot, where, options, caseSensitive, unclustered))
  }

  /**
   * Returns the expected result of [[run]], without changing anything. The number of new files is estimated, and delete
   * files that [[run]] would remove are not counted.
   */
  def dryRun(): RewriteResult = RewriteResult(
    groups.map(_.tasks.size).sum,
    groups.map(group => options.group.outputFiles(group.bytes)).sum,
    groups.map(_.bytes).sum,
    failedFiles = 0,
    removedDeleteFiles = 0
  )

  /**
   * Rewrites the files.
   *
   * @param extendsBloomIndex whether the filters of the new files are added to the Bloom index, if the table has one
   * @return the newest version of the table, and the result
   * @throws iceberglite.spec.IcebergError if a commit failed or, with partial progress, if too many commits failed. If
   *   other commits have succeeded, the error has their result as a suppressed [[PartialCommitsException]]
   */
  def run(extendsBloomIndex: Boolean = true): (Table, RewriteResult) = {
    val (newest, rewritten) = rewriteGroups()
    val (after, result) =
      if (options.removesDanglingDeletes) removeDanglingDeletes(newest, rewritten) else (newest, rewritten)
    (if (extendsBloomIndex && result.rewrittenFiles > 0) extendBloomIndex(after, result) else after, result)
  }

  /**
   * Adds the new files to the Bloom index, if the table has one. A failure is a warning, because the rewrite is
   * complete, and the index is only advice.
   */
  private def extendBloomIndex(newest: Table, result: RewriteResult): Table =
    try to.head(newest.metadata).flatMap(TableStatistics.extendBloomIndex(session, newest, _, added.asScala.toSet))
        .fold(newest)(_._1)
    catch {
      case NonFatal(e) =>
        log.warn(Redaction(s"The files of ${table.name} were rewritten, but they were not added to the Bloom index. " +
          s"Call compute_table_stats to add them: $e"))
        newest
      case e: Throwable => throw PartialCommitsException.addTo(e, Some(result))
    }

  /** Removes dangling deletes after a rewrite. If this fails, the error has the result of the rewrite. */
  private def removeDanglingDeletes(newest: Table, result: RewriteResult): (Table, RewriteResult) =
    try DanglingDeletes.of(newest, to).fold((newest, result)) { dangling =>
        val committed = newest.transaction(EngineSummary.of(session)).add(dangling.removal).commit()
        (committed, result.copy(removedDeleteFiles = result.removedDeleteFiles + dangling.files.size))
      }
    catch {
      case e: Throwable => throw PartialCommitsException.addTo(e, Some(result).filter(_.rewrittenFiles > 0))
    }

  private def rewriteGroups(): (Table, RewriteResult) =
    to.head(table.metadata).fold((table, RewriteResult.Empty)) { snapshot =>
      def failed(batch: Vector[FileGroup]) = RewriteResult.Empty.copy(failedFiles = batch.map(_.files).sum)
      RewriteCommits.run(session, table, groups, options.group, deadline, RewriteResult.Empty, failed)(rewrite(
        snapshot,
        _
      ))(
        _ ++ _
      )
    }

  /**
   * Fails if the number of rows in the new files differs from the number of live rows in the old files, for example
   * because a file was not read completely. The check is skipped if the number of live rows is unknown: if a manifest
   * entry has no record count, or if deletes other than deletion vectors apply.
   */
  private def checkRows(batch: Vector[FileGroup], files: Vector[ContentFile]): Unit = {
    val tasks = batch.flatMap(_.tasks)
    val isKnown = tasks.forall(task => task.file.hasRecordCount && task.deletes.forall(_.isVector))
    val (before, after) = (tasks.iterator.map(_.liveRecords).sum, files.iterator.map(_.recordCount).sum)
    if (isKnown && before != after) throw ValidationFailed(
      s"Cannot rewrite files of ${table.name}: they have $before rows according to the metadata, but $after rows " +
        "were read. The metadata or the files are damaged; nothing was changed"
    )
  }

  private def commit(
      snapshot: Snapshot,
      batch: Vector[FileGroup],
      rewritten: RewrittenFiles,
      writeCommit: WriteCommit
  ): Table = {
    val tasks = batch.flatMap(_.tasks)
    // If another commit has deleted rows of the replaced files, these rows are deleted from the new files too. The
    // rows of packed files have the order of the replaced files, so these files are searched by position. `RowSearch`
    // searches only the other new files, so that it does not find an equal row of a packed file.
    val packed = rewritten.packed.flatMap(_.written).map(_.path).toSet
    val search = new RowSearch(session, table, snapshot, tasks, rewritten.files.filterNot(f => packed(f.path)))
    try {
      val moves = new IncrementalCarrier(new MovedRows(table, rewritten.packed, search))
      val carrier = new RecordingCarrier(moves, writeCommit)
      val action = new RewriteFiles(
        tasks.map(_.file),
        rewritten.files,
        snapshot.snapshotId,
        to,
        options.keepsSequenceNumber,
        Some(carrier)
      )
      commitInTurn(action, carrier)
    } finally search.close()
  }

  /**
   * Waits until no other thread of this rewrite is committing, and then commits. A waiting thread can be interrupted.
   */
  private def commitInTurn(action: RewriteFiles, carrier: RecordingCarrier): Table = {
    val summary =
      EngineSummary.of(session) ++ ordering.clustering.map(columns => SummaryKey.ClusteredBy -> columns.ids)
    commits.lockInterruptibly()
    try {
      newestOwn = carrier.attempt(newestOwn.transaction(summary).add(action).commit())
      newestOwn
    } finally commits.unlock()
  }

  /** Rewrites groups in one commit. */
  private def rewrite(snapshot: Snapshot, batch: Vector[FileGroup]): (Table, RewriteResult) = {
    val writeCommit = new WriteCommit(table)
    try {
      val rewritten = new FileRewriteJob(session, table, snapshot, options, ordering).run(batch, writeCommit)
      val files = rewritten.files
      checkRows(batch, files)
      val newest = commit(snapshot, batch, rewritten, writeCommit)
      val removedDeletes = to.head(newest.metadata).flatMap(_.count(SummaryKey.RemovedDeleteFiles)).getOrElse(0L)
      val bytes = batch.map(_.bytes).sum
      files.foreach(file => added.add(file.path))
      (newest, RewriteResult(batch.map(_.files).sum, files.size, bytes, failedFiles = 0, removedDeletes.toInt))
    } catch {
      case e: Throwable =>
        writeCommit.remove(Vector.empty)
        throw e
    }
  }
}

private object DataFileRewrite {
  private val log = LoggerFactory.getLogger("iceberglite.spark.maintenance.DataFileRewrite")
}

/**
 * Carries deletes of other commits over to the new files, and records whether this failed. The Spark jobs that carry
 * the deletes over can fail with any error. They run before a commit attempt changes the table, so the new files of a
 * rewrite can be removed after such an error.
 */
final private[maintenance] class RecordingCarrier(moves: DeleteCarrier, writeCommit: WriteCommit)
    extends DeleteCarrier {
  private var lastFailure = Option.empty[Throwable]

  override def carry(deleted: Vector[DeletedPositions], base: TableMetadata): Vector[ContentFile] =
    try moves.carry(deleted, base)
    catch {
      case e: Throwable =>
        lastFailure = Some(e)
        throw e
    }

  /**
   * Runs a commit that calls this carrier. Only the error that ends the commit is relevant: after an earlier error, the
   * commit may have been attempted again.
   */
  def attempt[A](commit: => A): A =
    try writeCommit.attempt(commit)
    catch {
      case e: Throwable =>
        if (lastFailure.exists(failure => Causes.of(e).exists(_ eq failure))) writeCommit.recordNotCommitted()
        throw e
    }
}
