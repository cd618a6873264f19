package iceberglite.spark.read.planning

import scala.collection.mutable.ArrayBuffer

import iceberglite.scan.{FileScanTask, Splits}

/** Decides which Spark task reads which files. */
sealed private[iceberglite] trait TaskFilePacking {

  /**
   * Packs the files into tasks.
   *
   * @param openCost minimum weight of a file in bytes, so that no task gets very many small files
   */
  def of(files: Vector[FileScanTask], openCost: Long): Vector[Vector[FileScanTask]]
}

/** A packing that was computed before the scan. @param tasks the files, or splits of files, of each task */
final private[iceberglite] case class FixedPacking(tasks: Vector[Vector[FileScanTask]]) extends TaskFilePacking {
  override def of(files: Vector[FileScanTask], openCost: Long): Vector[Vector[FileScanTask]] = tasks
}

/**
 * Packs the files that a statement rewrites, so that its tasks write few files. In a partitioned table, each task reads
 * either whole partitions, or a part of one partition that is large enough to fill a file.
 *
 * @param byPartition whether the table is partitioned, so that each partition gets its own files
 * @param fileSize minimum number of bytes that a task rewrites in one partition, if the partition is large enough
 * @param smallestFileSize minimum that is used instead of `fileSize` if parts of `fileSize` would leave cores idle
 * @param cores number of tasks that run at the same time
 */
final private[iceberglite] case class RewritePacking(
    byPartition: Boolean,
    fileSize: Long,
    smallestFileSize: Long,
    cores: Int
) extends TaskFilePacking {

  override def of(files: Vector[FileScanTask], openCost: Long): Vector[Vector[FileScanTask]] =
    if (!byPartition) Splits.evenly(files, taskCount(bytes(files)))
    else {
      val groups = splitPartitions(partitions(files))
      val weights = groups.map(_.iterator.map(f => math.max(f.length, openCost)).sum)
      combine(groups.zip(weights), math.min(fileSize, weights.sum / (cores * RewritePacking.TasksPerCore).toLong))
    }

  private def bytes(files: Vector[FileScanTask]): Long = files.iterator.map(_.length).sum

  /**
   * Returns the number of tasks that rewrite unpartitioned files. Each core gets a task, unless this would result in
   * very small files.
   *
   * @param total the bytes of the files
   */
  def taskCount(total: Long): Int = {
    val forCores = math.min(cores.toLong, total / RewritePacking.MinTaskBytes)
    math.max(1L, math.max(forCores, total / fileSize)).toInt
  }

  /** Returns the files of each partition, in the order of first occurrence. */
  private def partitions(files: Vector[FileScanTask]): Vector[Vector[FileScanTask]] = {
    val byKey = files.groupBy(f => (f.file.specId, f.file.partition))
    files.iterator.map(f => (f.file.specId, f.file.partition)).toVector.distinct.map(byKey)
  }

  private def splitPartitions(partitions: Vector[Vector[FileScanTask]]): Vector[Vector[FileScanTask]] = {
    def counts(size: Long) = partitions.map(p => math.max(1L, bytes(p) / size).toInt)
    val fullFiles = counts(fileSize)
    val partCounts = if (fullFiles.sum >= cores) fullFiles else counts(smallestFileSize)
    partitions.zip(partCounts).flatMap { case (files, count) => Splits.evenly(files, count) }
  }

  /**
   * Combines consecutive groups of files into tasks of about the target size.
   *
   * @param groups the files of each group, and their weight in bytes
   * @param size the target size of a task in bytes
   */
  private def combine(
      groups: Vector[(Vector[FileScanTask], Long)],
      size: Long
  ): Vector[Vector[FileScanTask]] = {
    val tasks = ArrayBuffer.empty[ArrayBuffer[Vector[FileScanTask]]]
    var open = 0L
    groups.foreach { case (files, weight) =>
      if (tasks.isEmpty || open + weight > size || tasks.last.size == RewritePacking.MaxPartitions) {
        tasks += ArrayBuffer.empty
        open = 0L
      }
      tasks.last += files
      open += weight
    }
    tasks.iterator.map(_.iterator.flatten.toVector).toVector
  }
}

private[iceberglite] object RewritePacking {
  private val TasksPerCore = 2

  /** The minimum number of bytes of a task. It is Spark's own minimum for a task after a shuffle. */
  private val MinTaskBytes = 1L << 20

  /** The maximum number of partitions in a task. A task has one open file for each of its partitions. */
  private val MaxPartitions = 32
}
