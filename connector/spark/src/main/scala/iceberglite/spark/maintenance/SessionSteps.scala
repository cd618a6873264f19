package iceberglite.spark.maintenance

import scala.reflect.ClassTag
import scala.util.control.NonFatal

import org.apache.spark.SparkException
import org.apache.spark.sql.SparkSession

import iceberglite.maintenance.{ComputePartitionStatistics, Deadline, LiveEqualityDeletes}
import iceberglite.maintenance.compact.{DanglingDeletes, FileGroupBudget, GroupOptions, PartialProgress, RewriteGroup}
import iceberglite.maintenance.expire.SnapshotExpiry
import iceberglite.maintenance.health.{
  MaintenanceAction,
  MaintenanceOptions,
  StatisticsHealth,
  StepLimits,
  StepResult,
  StepRunner
}
import iceberglite.maintenance.orphan.{OrphanOptions, OrphanRemoval, OrphanSearch}
import iceberglite.spark.cluster.ClusterJob
import iceberglite.spark.conf.EngineSummary
import iceberglite.spark.error.Causes
import iceberglite.spark.write.upsert.DeleteConversionJob
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.table.{Action, SnapshotTarget, Table}
import iceberglite.table.action.{ExpireOptions, RewriteManifests}
import iceberglite.tree.MetadataTree

/** Runs the steps of table maintenance in a Spark session. Steps that rewrite files change only the branch `main`. */
final private[iceberglite] class SessionSteps(session: SparkSession) extends StepRunner {

  override def run(
      action: MaintenanceAction,
      table: Table,
      options: MaintenanceOptions,
      limits: StepLimits
  ): StepResult =
    ClusterJob.withDriverWork(session.sparkContext, s"Maintaining ${table.name}: ${action.name}") {
      action match {
        case MaintenanceAction.RewriteDataFiles => rewriteDataFiles(table, options, limits)
        case MaintenanceAction.ConvertEqualityDeletes => convertEqualityDeletes(table)
        case MaintenanceAction.RemoveDanglingDeletes => removeDanglingDeletes(table)
        case MaintenanceAction.RewritePositionDeleteFiles => rewritePositionDeleteFiles(table, limits.deadline)
        case MaintenanceAction.RewriteManifests => rewriteManifests(table)
        case MaintenanceAction.ExpireSnapshots => expireSnapshots(table)
        case MaintenanceAction.ComputePartitionStats => computePartitionStats(table)
        case MaintenanceAction.ComputeTableStats => computeTableStats(table)
        case MaintenanceAction.RemoveOrphanFiles => removeOrphanFiles(table)
      }
    }

  override def orphanSearch: OrphanSearch = new SessionOrphanSearch(session)

  override def isCancellation(error: Throwable): Boolean =
    Causes.of(error).exists {
      case _: InterruptedException => true
      case e: SparkException => SessionSteps.Cancelled.findFirstIn(String.valueOf(e.getMessage)).isDefined
      case _ => false
    }

  private def commit(table: Table, action: Action): Table =
    table.transaction(EngineSummary.of(session)).add(action).commit()

  private def rewriteDataFiles(table: Table, options: MaintenanceOptions, limits: StepLimits): StepResult = {
    val budget = FileGroupBudget(limits.maxBytes.getOrElse(Long.MaxValue))
    val ordering = RowOrdering.default(table)
    val planned = options.rewrite(table.metadata)
    val limited = budget.limit(planned.copy(group = inSeveralCommits(planned.group, ordering, limits.deadline)))
    val rewrite = new DataFileRewrite(
      session,
      table,
      SnapshotTarget.Main,
      AlwaysTrue,
      limited,
      ordering,
      budget.select(_, limited, table.properties),
      limits.deadline
    )
    val (result, failure) = committed(rewrite.run()._2)
    val left = remaining("data files", rewrite.groups, result.rewrittenFiles, result.rewrittenBytes, failure)
    val removed = Some(result.removedDeleteFiles).filter(_ > 0).map(n => s"Removed $n delete files")
    StepResult(
      result.rewrittenFiles.toLong,
      result.addedFiles.toLong,
      result.rewrittenBytes,
      (left ++ removed).reduceOption(_ + "; " + _),
      failure
    )
  }

  private def rewritePositionDeleteFiles(table: Table, deadline: Option[Deadline]): StepResult = {
    val group = GroupOptions.ofPositionDeletes(Map.empty, table.metadata)
    val options = inSeveralCommits(group, RowOrdering.Kept, deadline)
    val rewrite = new PositionDeleteRewrite(session, table, SnapshotTarget.Main, AlwaysTrue, options, deadline)
    val (result, failure) = committed(rewrite.run()._2)
    val left = remaining("position delete files", rewrite.groups, result.rewrittenFiles, result.rewrittenBytes, failure)
    StepResult(result.rewrittenFiles.toLong, result.addedFiles.toLong, result.rewrittenBytes, left, failure)
  }

  /**
   * Returns the result of a rewrite. If the rewrite fails after some of its commits, returns the result of these
   * commits and the message of the error.
   */
  private def committed[R: ClassTag](rewrite: => R): (R, Option[String]) =
    try {
      (rewrite, None)
    } catch {
      case NonFatal(e) if !isCancellation(e) =>
        PartialCommitsException.of[R](e).fold(throw e)(result => (result, Some(String.valueOf(e.getMessage))))
    }

  /**
   * If there is a deadline, returns the options with partial progress, so that a rewrite can stop after any of its
   * commits. A rewrite that keeps the order of the rows also gets smaller file groups, which does not change its
   * result. The first commit that fails ends the rewrite.
   */
  private def inSeveralCommits(options: GroupOptions, ordering: RowOrdering, deadline: Option[Deadline]): GroupOptions =
    deadline.fold(options) { _ =>
      val maxGroupSize = ordering match {
        case RowOrdering.Kept =>
          math.min(options.maxGroupSize.toDouble, options.targetFileSize.toDouble * SessionSteps.TimedGroupFiles).toLong
        case _ => options.maxGroupSize
      }
      val progress = PartialProgress(SessionSteps.TimedCommits, maxFailedCommits = 0)
      options.copy(maxGroupSize = maxGroupSize, partialProgress = Some(progress))
    }

  /**
   * Describes the files that a rewrite has not rewritten because of the deadline or a failure; absent if there are
   * none.
   */
  private def remaining(
      kind: String,
      groups: Vector[RewriteGroup],
      rewrittenFiles: Int,
      rewrittenBytes: Long,
      failure: Option[String]
  ): Option[String] = {
    val files = groups.map(_.files).sum - rewrittenFiles
    val reason = failure.fold("the time of the option max-seconds has passed")(_ => "a commit failed")
    if (files > 0)
      Some(s"$files $kind with ${groups.map(_.bytes).sum - rewrittenBytes} bytes are left, because $reason")
    else None
  }

  private def convertEqualityDeletes(table: Table): StepResult =
    LiveEqualityDeletes.of(table, SnapshotTarget.Main).fold(StepResult(0, 0, 0)) { deletes =>
      new DeleteConversionJob(session, table).run(deletes) { deleteFiles =>
        commit(table, deletes.action(deleteFiles))
        StepResult(deletes.files.size.toLong, deleteFiles.size.toLong, deletes.files.map(_.fileSizeInBytes).sum)
      }
    }

  private def removeDanglingDeletes(table: Table): StepResult = {
    val dangling = DanglingDeletes.of(table, SnapshotTarget.Main)
    dangling.foreach(found => commit(table, found.removal))
    StepResult(dangling.fold(0L)(_.files.size.toLong), 0, 0)
  }

  private def rewriteManifests(table: Table): StepResult = {
    val after = commit(table, new RewriteManifests())
    def parts(of: Table) = of.currentSnapshot.toVector.flatMap(MetadataTree.at(_, of.tree()).parts)
    val (old, current) = (parts(table), parts(after))
    val (oldIds, currentIds) = (old.map(_.id).toSet, current.map(_.id).toSet)
    val replaced = old.filterNot(part => currentIds(part.id))
    StepResult(replaced.size.toLong, current.count(part => !oldIds(part.id)).toLong, replaced.map(_.length).sum)
  }

  private def expireSnapshots(table: Table): StepResult = {
    val summary = EngineSummary.of(session)
    val reads = new SessionRunningReads(session)
    val (after, result) =
      new SnapshotExpiry(table, ExpireOptions(), new SessionUnreachableFiles(session), summary, reads = reads).run()
    val deleted = result.deleted
    val deleteFiles = deleted.positionDeleteFiles + deleted.equalityDeleteFiles
    val kept = result.kept.map(_.count).sum
    val message =
      s"Deleted ${deleted.dataFiles} data files, $deleteFiles delete files, ${deleted.manifests} manifests and " +
        s"${deleted.manifestLists} manifest lists; kept $kept files"
    StepResult(
      table.metadata.snapshots.size.toLong,
      after.metadata.snapshots.size.toLong,
      after.io.info(after.metadataLocation).fold(0L)(_.length),
      Some((message +: result.reads.warning.toSeq).mkString("; "))
    )
  }

  private def computePartitionStats(table: Table): StepResult = {
    val computed = ComputePartitionStatistics(table, None, EngineSummary.of(session))
    StepResult(0, computed.size.toLong, 0, computed.map { case (_, file) => s"Wrote ${file.statisticsPath}" })
  }

  /**
   * Computes new statistics for the existing columns that already have statistics, and the filters of the Bloom index
   * for files that have none. If only the Bloom index is old, the other statistics are copied.
   */
  private def computeTableStats(table: Table): StepResult = {
    val health = StatisticsHealth.of(table.metadata)
    val fields = health.sketches.toVector.flatMap(_.fieldIds)
    val columns = table.schema.fields.filter(field => fields.contains(field.id)).map(_.name)
    val computed = table.currentSnapshot.flatMap { snapshot =>
      if (columns.nonEmpty && (health.sketches.exists(_.isStale) || !health.isIndexed)) {
        Some(TableStatistics.compute(session, table, snapshot, columns))
      } else if (health.isBloomIndexOld) Some(TableStatistics.computeBloomIndex(session, table, snapshot))
      else None
    }
    StepResult(0, computed.size.toLong, 0, computed.map { case (_, file) => s"Wrote ${file.statisticsPath}" })
  }

  private def removeOrphanFiles(table: Table): StepResult = {
    var (found, kept) = (0L, 0L)
    val olderThanMs = System.currentTimeMillis - OrphanOptions.DefaultAgeMs
    new OrphanRemoval(
      table,
      OrphanRemoval.directory(None),
      orphanSearch,
      OrphanOptions(olderThanMs)
    ).run {
      file =>
        found += 1
        if (file.kept.isDefined) kept += 1
    }
    StepResult(found, kept, 0)
  }
}

private object SessionSteps {

  /** The maximum number of commits of a rewrite with a deadline. */
  private val TimedCommits = 10

  /** The maximum number of new files of the target size in a group of a rewrite with a deadline. */
  private val TimedGroupFiles = 20

  /**
   * Spark's message for a cancelled job. A job can be cancelled by its id, with its job group, or together with all
   * jobs.
   */
  private val Cancelled = "^Job (\\d+ )?cancelled".r
}
