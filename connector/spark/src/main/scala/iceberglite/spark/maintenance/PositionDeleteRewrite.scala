package iceberglite.spark.maintenance

import org.apache.spark.sql.SparkSession

import iceberglite.maintenance.Deadline
import iceberglite.maintenance.compact.{DeleteRewriteResult, GroupOptions, PositionDeleteGroup}
import iceberglite.spark.conf.EngineSummary
import iceberglite.spark.write.WriteCommit
import iceberglite.spec.FormatVersion
import iceberglite.spec.expr.Expression
import iceberglite.spec.metadata.Snapshot
import iceberglite.spec.property.{DeleteGranularity, RowLevelProperty, TableProperty}
import iceberglite.table.{SnapshotTarget, Table}
import iceberglite.table.action.RewriteFiles

/**
 * Combines position delete files, and drops the deletes of data files that are not live. From version 3, position
 * delete files become deletion vectors.
 *
 * @param table the table at the version whose files are rewritten
 * @param where only delete files of partitions that may have a row that satisfies this condition are rewritten
 * @param deadline with partial progress, the time after which no further batch of file groups is begun; without partial
 *   progress, it has no effect
 * @param shouldUseCluster decides whether a Spark job is used, from the number of cores of the cluster and the size of
 *   the rewrite
 */
final private[iceberglite] class PositionDeleteRewrite(
    session: SparkSession,
    table: Table,
    to: SnapshotTarget,
    where: Expression,
    options: GroupOptions,
    deadline: Option[Deadline] = None,
    shouldUseCluster: (Int, DeleteRewriteSize) => Boolean = DeleteRewriteSize.needsCluster
) {

  /** Returns the groups of delete files that [[run]] would rewrite. */
  lazy val groups: Vector[PositionDeleteGroup] =
    to.head(table.metadata).fold(Vector.empty[PositionDeleteGroup]) { snapshot =>
      PositionDeleteGroup.plan(table, snapshot, where, options, session.sessionState.conf.caseSensitiveAnalysis)
    }

  /**
   * Rewrites the files.
   *
   * @return the newest version of the table, and the result
   * @throws iceberglite.spec.IcebergError if a delete file is damaged or a commit failed; with partial progress, if
   *   more commits failed than the options allow
   */
  def run(): (Table, DeleteRewriteResult) =
    to.head(table.metadata).fold((table, DeleteRewriteResult.Empty)) { snapshot =>
      val empty = DeleteRewriteResult.Empty
      RewriteCommits.run[PositionDeleteGroup, DeleteRewriteResult](
        session,
        table,
        groups,
        // The deletes of the groups of a commit may be in the driver's memory, so only one commit is prepared at a
        // time.
        options.copy(maxConcurrentGroups = 1),
        deadline,
        empty,
        _ => empty
      )(rewrite(snapshot, _))(_ ++ _)
    }

  /**
   * Returns the result that [[run]] would have, without changing anything. The number and the size of the new files are
   * estimated. Their total size is the size of the old files. Their number is the total size divided by the target
   * size. If each new file covers one data file, their number is the number of data files that the metadata of the old
   * files names; an old file that names no data file counts as one new file.
   */
  def dryRun(): DeleteRewriteResult = {
    val perDataFile = table.metadata.formatVersion >= FormatVersion.V3 ||
      TableProperty.of(RowLevelProperty.Granularity, table.properties) == DeleteGranularity.OfFile
    val added = groups.map { group =>
      val dataFiles = group.deletes.flatMap(_.file.onlyDataFile).distinct.size
      val others = group.deletes.count(_.file.onlyDataFile.isEmpty)
      if (perDataFile) dataFiles + others else options.outputFiles(group.bytes)
    }.sum
    val bytes = groups.map(_.bytes).sum
    DeleteRewriteResult(groups.map(_.files).sum, added, bytes, bytes)
  }

  /** Rewrites groups in one commit. */
  private def rewrite(snapshot: Snapshot, groups: Vector[PositionDeleteGroup]): (Table, DeleteRewriteResult) = {
    val writeCommit = new WriteCommit(table)
    try {
      val job = new PositionDeleteJob(session, table, snapshot, groups, options)
      val files = job.run(writeCommit, shouldUseCluster)
      val action = new RewriteFiles(groups.flatMap(_.deletes).map(_.file), files, snapshot.snapshotId, to)
      val newest = writeCommit.attempt(table.transaction(EngineSummary.of(session)).add(action).commit())
      (newest, DeleteRewriteResult.of(groups, files))
    } catch {
      case e: Throwable =>
        writeCommit.remove(Vector.empty)
        throw e
    }
  }
}
