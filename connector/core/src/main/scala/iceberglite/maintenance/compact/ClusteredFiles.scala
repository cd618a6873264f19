package iceberglite.maintenance.compact

import iceberglite.maintenance.cluster.ClusterColumns
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.spec.metadata.Snapshot
import iceberglite.table.Table

/**
 * Counts that show how well data files are clustered.
 *
 * @param files the number of files
 * @param unclusteredFiles the number of files that are not clustered yet. This number includes files with an unsuitable
 *   size that no rewrite has clustered, but not files with many deleted rows
 * @param unclusteredBytes the size of the unclustered files in bytes
 * @param overlaps the sum of one share for each file: the share of the other files in the partition whose bounds
 *   overlap those of the file in all clustering columns
 */
final case class ClusterDegree(files: Long, unclusteredFiles: Long, unclusteredBytes: Long, overlaps: Double) {
  def ++(that: ClusterDegree): ClusterDegree = ClusterDegree(
    files + that.files,
    unclusteredFiles + that.unclusteredFiles,
    unclusteredBytes + that.unclusteredBytes,
    overlaps + that.overlaps
  )

  /** The average share of the other files in the partition that overlap a file, from 0 to 1. */
  def overlap: Double = if (files > 0) overlaps / files else 0
}

object ClusterDegree {
  val Empty: ClusterDegree = ClusterDegree(0, 0, 0, 0)
}

/**
 * The files of a clustered table.
 *
 * @param groups the file groups that [[FileGroup.plan]] chooses
 */
final case class ClusteredFiles(columns: ClusterColumns, degree: ClusterDegree, groups: Vector[FileGroup])

object ClusteredFiles {

  /**
   * Reads the bounds of all data files of a snapshot. Memory use grows with the number of data files, as in scan
   * planning.
   *
   * @param columns the clustering columns of the table
   */
  def of(table: Table, snapshot: Snapshot, columns: ClusterColumns, options: RewriteOptions): ClusteredFiles = {
    val clustered = new ClusteredGroups(columns, table.metadata.snapshotsById.get, options)
    val partitions =
      FileGroup.byPartition(table, snapshot, AlwaysTrue, options, caseSensitive = true, clustering = Some(columns))
    partitions.foldLeft(ClusteredFiles(columns, ClusterDegree.Empty, Vector.empty)) {
      case (sum, (partition, tasks)) => ClusteredFiles(
          columns,
          sum.degree ++ clustered.degree(tasks),
          sum.groups ++ FileGroup.clusteredGroups(partition, tasks, options, clustered)
        )
    }
  }
}
