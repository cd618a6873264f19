package iceberglite.spark.maintenance

import org.apache.spark.SparkException
import org.apache.spark.sql.SparkSession

import iceberglite.maintenance.{ComputePartitionStatistics, EqualityDeletes}
import iceberglite.maintenance.compact.{DanglingDeletes, FileGroupBudget}
import iceberglite.maintenance.expire.SnapshotExpiry
import iceberglite.maintenance.health.{MaintenanceAction, MaintenanceOptions, StepResult, StepRunner}
import iceberglite.maintenance.orphan.{OrphanOptions, OrphanRemoval}
import iceberglite.spark.cluster.ClusterJob
import iceberglite.spark.conf.EngineSummary
import iceberglite.spark.error.Causes
import iceberglite.spark.write.upsert.DeleteConversionJob
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.table.{Action, SnapshotTarget, Table}
import iceberglite.table.action.{ExpireOptions, RewriteManifests}
import iceberglite.tree.MetadataTree

/** Runs the actions of a maintenance in a Spark session. All of them change the branch main only. */
final private[iceberglite] class SessionSteps(session: SparkSession) extends StepRunner {

  override def run(
      action: MaintenanceAction,
      table: Table,
      options: MaintenanceOptions,
      maxBytes: Option[Long]
  ): StepResult =
    ClusterJob.withDescription(session.sparkContext, s"Maintaining ${table.name}: ${action.name}") {
      action match {
        case MaintenanceAction.RewriteDataFiles => rewriteDataFiles(table, options, maxBytes)
        case MaintenanceAction.ConvertEqualityDeletes => convertEqualityDeletes(table)
        case MaintenanceAction.RemoveDanglingDeletes => removeDanglingDeletes(table)
        case MaintenanceAction.RewriteManifests => rewriteManifests(table)
        case MaintenanceAction.ExpireSnapshots => expireSnapshots(table)
        case MaintenanceAction.ComputePartitionStats => computePartitionStats(table)
        case MaintenanceAction.RemoveOrphanFiles => removeOrphanFiles(table)
      }
    }

  override def isCancellation(error: Throwable): Boolean =
    Causes.of(error).exists {
      case _: InterruptedException => true
      case e: SparkException => SessionSteps.Cancelled.findFirstIn(String.valueOf(e.getMessage)).isDefined
      case _ => false
    }

  private def commit(table: Table, action: Action): Table =
    table.transaction(EngineSummary.of(session)).add(action).commit()

  private def rewriteDataFiles(table: Table, options: MaintenanceOptions, maxBytes: Option[Long]): StepResult = {
    val budget = FileGroupBudget(maxBytes.getOrElse(Long.MaxValue))
    val limited = budget.limit(options.rewrite(table.metadata))
    val rewrite = new DataFileRewrite(
      session,
      table,
      SnapshotTarget.Main,
      AlwaysTrue,
      limited,
      RowOrdering.default(table),
      budget.select(_, limited, table.properties)
    )
    val (_, result) = rewrite.run()
    val removed = Some(result.removedDeleteFiles).filter(_ > 0).map(n => s"Removed $n delete files")
    StepResult(result.rewrittenFiles.toLong, result.addedFiles.toLong, result.rewrittenBytes, removed)
  }

  private def convertEqualityDeletes(table: Table): StepResult =
    EqualityDeletes.of(table, SnapshotTarget.Main).fold(StepResult(0, 0, 0)) { deletes =>
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
    StepResult(
      table.metadata.snapshots.size.toLong,
      after.metadata.snapshots.size.toLong,
      after.io.info(after.metadataLocation).fold(0L)(_.length),
      Some(
        s"Deleted ${deleted.dataFiles} data files, $deleteFiles delete files, ${deleted.manifests} manifests and " +
          s"${deleted.manifestLists} manifest lists; kept $kept files"
      )
    )
  }

  private def computePartitionStats(table: Table): StepResult = {
    val computed = ComputePartitionStatistics(table, None, EngineSummary.of(session))
    StepResult(0, computed.size.toLong, 0, computed.map { case (_, file) => s"Wrote ${file.statisticsPath}" })
  }

  private def removeOrphanFiles(table: Table): StepResult = {
    var (found, kept) = (0L, 0L)
    val olderThanMs = System.currentTimeMillis - OrphanOptions.DefaultAgeMs
    new OrphanRemoval(
      table,
      OrphanRemoval.directory(None),
      new SessionOrphanSearch(session),
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

  /** The message of Spark for a job that was cancelled, by its id, its group or all jobs. */
  private val Cancelled = "^Job (\\d+ )?cancelled".r
}
