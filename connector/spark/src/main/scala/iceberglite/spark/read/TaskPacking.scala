package iceberglite.spark.read

import iceberglite.scan.{FileScanTask, Splits}
import iceberglite.spark.conf.ReadSettings
import iceberglite.spark.read.partitioning.{GroupSortOrder, KeyGrouping}
import iceberglite.spark.read.planning.TaskFilePacking
import iceberglite.spec.metadata.TableMetadata

/**
 * The files that one Spark task reads.
 *
 * @param key the partition key that all rows of the files share; absent if the scan is not grouped by partition key
 */
final private[read] case class PackedTask(files: Vector[FileScanTask], key: Option[Vector[Any]])

/**
 * Packs the files of a scan into tasks. A task can have files of several partitions, unless the scan is grouped by
 * partition key.
 */
final private[read] class TaskPacking(
    settings: ReadSettings,
    grouping: Option[KeyGrouping],
    metadata: TableMetadata,
    tableName: String
) {

  /** Packs the files of a scan. */
  def pack(files: Vector[FileScanTask]): Vector[PackedTask] =
    packGroups(files).getOrElse(withoutKey(packBySize(files)))

  /**
   * Packs the files of a micro-batch. Changes are packed in the order of their commits: the rows of a task are changes
   * of the same commits as those of the previous task, or of later commits.
   */
  def packMicroBatch(files: Vector[FileScanTask]): Vector[Vector[FileScanTask]] =
    if (files.forall(_.change.isEmpty)) pack(files).map(_.files)
    else {
      val weight = files.iterator.map(Splits.weight(_, settings.fileOpenCost)).sum
      Splits.inOrder(files, settings.splitSizeFor(weight), settings.fileOpenCost)
    }

  /**
   * Packs files that a statement rewrites.
   *
   * @param rewrite the packing that the statement's write needs; if absent, the files are packed by size, and are split
   *   only if there are too few files for all cores
   */
  def packForRewrite(files: Vector[FileScanTask], rewrite: Option[TaskFilePacking]): Vector[PackedTask] =
    packGroups(files).getOrElse {
      if (files.isEmpty) Vector.empty
      else withoutKey(rewrite.fold(splitForRewrite(files))(_.of(files, settings.fileOpenCost)))
    }

  private def splitForRewrite(files: Vector[FileScanTask]): Vector[Vector[FileScanTask]] = {
    val weights = files.map(Splits.weight(_, settings.fileOpenCost))
    split(files, settings.splitSizeForRewrite(weights.sum, weights.max))
  }

  private def withoutKey(tasks: Vector[Vector[FileScanTask]]): Vector[PackedTask] = tasks.map(PackedTask(_, None))

  private def packGroups(files: Vector[FileScanTask]): Option[Vector[PackedTask]] = for {
    keyGrouping <- grouping
    groups <- keyGrouping.of(files)
  } yield groups.flatMap { case (key, group) => splitGroup(keyGrouping, group).map(PackedTask(_, Some(key))) }

  /** Splits a group into tasks. A group whose rows are sorted becomes one task, which reads the files in order. */
  private def splitGroup(grouping: KeyGrouping, files: Vector[FileScanTask]): Vector[Vector[FileScanTask]] =
    if (grouping.order.isEmpty) split(files, settings.splitSize)
    else Vector(GroupSortOrder.inAscendingOrder(files, grouping.order, metadata).getOrElse(
      throw new IllegalStateException(s"The files of a group of $tableName are no longer in order")
    ))

  /**
   * Packs files by size. If there are more tasks than cores, and more tasks than the total size divided by the split
   * size, larger splits and splits at row groups are also tried. The packing with the fewest tasks is used.
   */
  private def packBySize(files: Vector[FileScanTask]): Vector[Vector[FileScanTask]] = {
    val weight = files.iterator.map(Splits.weight(_, settings.fileOpenCost)).sum
    val size = settings.splitSizeFor(weight)
    val bySize = split(files, size)
    val fullTasks = (weight + size - 1) / size
    if (bySize.size <= math.max(settings.cores.toLong, fullTasks)) bySize
    else {
      val sizes = Vector(size, math.max(size, settings.minSplitSize)).distinct
      (bySize +: sizes.flatMap(s => Vector(split(files, s), splitAtRowGroups(files, s)))).minBy(_.size)
    }
  }

  private def split(files: Vector[FileScanTask], size: Long): Vector[Vector[FileScanTask]] =
    Splits.of(files, size, settings.fileOpenCost, settings.lookback)

  private def splitAtRowGroups(files: Vector[FileScanTask], size: Long): Vector[Vector[FileScanTask]] =
    Splits.ofRowGroups(files, size, settings.fileOpenCost, settings.lookback)
}
