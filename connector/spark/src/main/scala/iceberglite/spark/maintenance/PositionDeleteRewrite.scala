package iceberglite.spark.maintenance

import org.apache.spark.sql.SparkSession

import iceberglite.maintenance.compact.{DeleteRewriteResult, GroupOptions, PositionDeleteGroup}
import iceberglite.spark.conf.EngineSummary
import iceberglite.spark.write.WriteCommit
import iceberglite.spec.expr.Expression
import iceberglite.spec.metadata.Snapshot
import iceberglite.table.{SnapshotTarget, Table}
import iceberglite.table.action.RewriteFiles

/**
 * Combines position delete files, and drops the deletes of data files that are not live. In version 3, position delete
 * files become deletion vectors.
 *
 * @param table the table at the version whose files are rewritten
 * @param where only delete files of partitions that may have a row that satisfies this condition are rewritten
 * @param shouldUseCluster decides by the number of cores of the cluster
 */
final private[iceberglite] class PositionDeleteRewrite(
    session: SparkSession,
    table: Table,
    to: SnapshotTarget,
    where: Expression,
    options: GroupOptions,
    shouldUseCluster: (Int, DeleteRewriteSize) => Boolean = DeleteRewriteSize.needsCluster
) {

  /**
   * Rewrites the files.
   *
   * @return the newest version of the table, and the result
   * @throws iceberglite.spec.IcebergError a delete file is damaged, or a commit failed; with partial progress, all
   *   commits failed
   */
  def run(): (Table, DeleteRewriteResult) =
    to.head(table.metadata).fold((table, DeleteRewriteResult.Empty)) { snapshot =>
      val caseSensitive = session.sessionState.conf.caseSensitiveAnalysis
      val groups = PositionDeleteGroup.plan(table, snapshot, where, options, caseSensitive)
      val empty = DeleteRewriteResult.Empty
      RewriteCommits.run[PositionDeleteGroup, DeleteRewriteResult](
        table,
        groups,
        options.partialProgress,
        empty,
        _ => empty
      )(rewrite(snapshot, _))(_ ++ _)
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
