package iceberglite.spark.rowlevel

import org.apache.spark.sql.connector.write.RowLevelOperation.Command
import org.apache.spark.sql.internal.SQLConf

import iceberglite.scan.FileScanTask
import iceberglite.spark.conf.{Settings, WriteOptions}
import iceberglite.spark.read.planning.RewritePacking
import iceberglite.spec.property.DistributionMode

/**
 * Decides whether copy-on-write writes rows in the tasks that read them, and packs the files into these tasks.
 *
 * @param candidates the data files that may be rewritten
 */
final private[rowlevel] class RewritePlacement(statement: RowLevelStatement, candidates: Vector[FileScanTask]) {
  private val conf = statement.session.sessionState.conf
  private val settings =
    Settings.of(statement.options.asOptions, statement.session, statement.table.properties)
  private val targetSize = settings(WriteOptions.TargetFileSize)

  /** Whether rows are written by the tasks that read them. */
  lazy val writesInReadTasks: Boolean =
    if (!statement.isDistributed) true
    else statement.distribution match {
      case Some(mode) => mode == DistributionMode.NoDistribution
      case None => statement.writesInReadTasks && (!statement.table.spec.isPartitioned || keepsPartitions)
    }

  /**
   * Whether the rewritten rows of a file remain in the file's partition. The new rows of a MERGE come from other tasks
   * and result in additional files, which are acceptable if the rewritten files are large.
   */
  private def keepsPartitions: Boolean = {
    val current = statement.table.spec.specId
    def areLarge = candidates.forall(_.file.fileSizeInBytes >= targetSize / 2)
    candidates.forall(_.file.specId == current) && (statement.command match {
      case Command.DELETE => true
      case Command.UPDATE => !statement.analysis.changesPartitions
      case Command.MERGE => !statement.analysis.changesPartitions && (!statement.analysis.inserts || areLarge)
    })
  }

  /** The packing of the files into tasks; absent if rows are shuffled before the write. */
  def packing: Option[RewritePacking] =
    if (writesInReadTasks)
      Some(RewritePacking(statement.table.spec.isPartitioned, fileSize, smallestFileSize, tasksAtOnce))
    else None

  /**
   * Returns the number of tasks to run at the same time: the number of partitions that Spark would use for a small
   * shuffle.
   */
  private def tasksAtOnce: Int = {
    val cores = statement.session.sparkContext.defaultParallelism
    val minPartitions =
      if (!conf.adaptiveExecutionEnabled) cores
      else conf.getConf(SQLConf.COALESCE_PARTITIONS_MIN_PARTITION_NUM).getOrElse(
        if (conf.getConf(SQLConf.COALESCE_PARTITIONS_PARALLELISM_FIRST)) cores else 1
      )
    math.max(1, math.min(minPartitions, conf.numShufflePartitions))
  }

  /**
   * Returns the target number of bytes of a task. Without adaptive query execution, this is the target file size, as
   * after a shuffle: one task would receive all rows of a table partition, and would fill files up to the target file
   * size.
   */
  private def fileSize: Long =
    if (!conf.adaptiveExecutionEnabled) targetSize
    else WriteOptions.AdvisoryPartitionSize.get(settings).fold(math.max(1L, targetSize / 2))(math.min(_, targetSize))

  private def smallestFileSize: Long =
    if (!conf.adaptiveExecutionEnabled) fileSize
    else math.min(fileSize, settings(WriteOptions.AdvisoryPartitionSize) / WriteOptions.ShuffleRatio)
}
