package iceberglite.spark.read.rows

import scala.collection.mutable.ArrayBuffer

import iceberglite.scan.{FileScanTask, Splits}

/**
 * Packs the files that a statement rewrites into tasks that write few files: a task reads whole partitions, or a part of
 * one partition that fills a file.
 *
 * @param byPartition whether each partition gets files of its own
 * @param fileSize how many bytes of files a task rewrites of one partition, at least where the partition has as many
 * @param smallestFileSize the same where larger parts would leave cores idle
 * @param cores how many tasks run at once
 */
final private[spark] case class RewritePacking(
    byPartition: Boolean,
    fileSize: Long,
    smallestFileSize: Long,
    cores: Int
) {

  /** @param openCost what a file counts at least, in bytes, so that no task gets very many small files */
  def of(files: Vector[FileScanTask], openCost: Long): Vector[Vector[FileScanTask]] =
    if (!byPartition) Splits.evenly(files, tasksOf(bytes(files)))
    else {
      val groups = parts(partitions(files))
      val weights = groups.map(_.iterator.map(f => math.max(f.length, openCost)).sum)
      together(groups.zip(weights), math.min(fileSize, weights.sum / (cores * RewritePacking.TasksPerCore).toLong))
    }

  private def bytes(files: Vector[FileScanTask]): Long = files.iterator.map(_.length).sum

  /**
   * Returns how many tasks rewrite files without partitions: all cores get some rows, unless that makes very small files.
   *
   * @param total the bytes of the files
   */
  def tasksOf(total: Long): Int = {
    val forCores = math.min(cores.toLong, total / RewritePacking.LeastShare)
    math.max(1L, math.max(forCores, total / fileSize)).toInt
  }

  /** The files of each partition, in the order in which the partitions come first. */
  private def partitions(files: Vector[FileScanTask]): Vector[Vector[FileScanTask]] = {
    val byKey = files.groupBy(f => (f.file.specId, f.file.partition))
    files.iterator.map(f => (f.file.specId, f.file.partition)).toVector.distinct.map(byKey)
  }

  private def parts(partitions: Vector[Vector[FileScanTask]]): Vector[Vector[FileScanTask]] = {
    def counts(size: Long) = partitions.map(p => math.max(1L, bytes(p) / size).toInt)
    val usual = counts(fileSize)
    val chosen = if (usual.sum >= cores) usual else counts(smallestFileSize)
    partitions.zip(chosen).flatMap { case (files, count) => Splits.evenly(files, count) }
  }

  /** Groups that follow each other, in tasks of about the size. */
  private def together(
      groups: Vector[(Vector[FileScanTask], Long)],
      size: Long
  ): Vector[Vector[FileScanTask]] = {
    val tasks = ArrayBuffer.empty[ArrayBuffer[Vector[FileScanTask]]]
    var open = 0L
    groups.foreach { case (files, weight) =>
      if (tasks.isEmpty || open + weight > size || tasks.last.size == RewritePacking.MostPartitions) {
        tasks += ArrayBuffer.empty
        open = 0L
      }
      tasks.last += files
      open += weight
    }
    tasks.iterator.map(_.iterator.flatten.toVector).toVector
  }
}

private[spark] object RewritePacking {
  private val TasksPerCore = 2

  /** Spark's own least size of a task after a shuffle. */
  private val LeastShare = 1L << 20

  /** A task has a file open for each of its partitions. */
  private val MostPartitions = 32
}
