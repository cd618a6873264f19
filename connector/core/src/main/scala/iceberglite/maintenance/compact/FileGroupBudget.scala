package iceberglite.maintenance.compact

import iceberglite.spec.property.TableProperty

/**
 * The limits of a rewrite.
 *
 * @param maxBytes maximum size of the replaced data files in bytes
 * @param maxFiles maximum number of replaced data files
 */
final case class FileGroupBudget(maxBytes: Long, maxFiles: Long = Long.MaxValue) {

  /**
   * Returns the given options of a rewrite, with limits for the file groups: no group is larger than the budget, so
   * that some of the groups fit into the budget.
   */
  def limit(options: RewriteOptions): RewriteOptions = options.copy(group =
    options.group.copy(
      maxGroupSize = math.min(options.group.maxGroupSize, maxBytes),
      maxGroupFiles = math.min(options.group.maxGroupFiles, maxFiles)
    )
  )

  /**
   * Selects the file groups with the most gain for each rewritten byte, as far as they fit into the budget. The gain is
   * the size of the deleted rows, plus `read.split.open-file-cost` for each file by which the number of files
   * decreases. Groups with the same gain for each byte keep their order.
   *
   * @param properties the properties of the table
   */
  def select(
      groups: Vector[FileGroup],
      options: RewriteOptions,
      properties: Map[String, String]
  ): Vector[FileGroup] = {
    val fileCost = TableProperty.of(TableProperty.SplitOpenFileCost, properties)
    val ordered = groups.sortBy(group => -FileGroupBudget.gain(group, options, fileCost) / math.max(1L, group.bytes))
    val (_, _, selected) = ordered.foldLeft((maxBytes, maxFiles, Vector.empty[FileGroup])) {
      case ((bytes, files, selected), group) if group.bytes <= bytes && group.tasks.size <= files =>
        (bytes - group.bytes, files - group.tasks.size, selected :+ group)
      case (state, _) => state
    }
    selected
  }
}

object FileGroupBudget {
  private def gain(group: FileGroup, options: RewriteOptions, fileCost: Long): Double = {
    val deletedBytes = group.tasks.iterator.map(task => task.file.fileSizeInBytes * FileGroup.deletedRatio(task)).sum
    deletedBytes + (group.tasks.size - options.group.outputFiles(group.bytes)).toDouble * fileCost
  }
}
