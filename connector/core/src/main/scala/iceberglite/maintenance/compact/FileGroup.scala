package iceberglite.maintenance.compact

import scala.collection.mutable

import iceberglite.scan.{FileScanTask, StatsToKeep, TableScan}
import iceberglite.spec.expr.Expression
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.spec.metadata.Snapshot
import iceberglite.spec.partition.PartitionTuple
import iceberglite.table.Table

/**
 * Data files that are rewritten together.
 *
 * @param partition the partition of the files and of the new files; absent if the files have other specs than the new
 *   ones, so that their rows may belong to several partitions
 * @param tasks the whole files, each with all of its deletes
 * @param reason why the group is rewritten, as a phrase
 */
final case class FileGroup(partition: Option[PartitionTuple], tasks: Vector[FileScanTask], reason: String) {

  /** The total size of the data files, in bytes. */
  def bytes: Long = tasks.iterator.map(_.file.fileSizeInBytes).sum
}

/** Chooses the data files to rewrite, by the rules of Apache Iceberg. */
object FileGroup {

  /**
   * Returns the file groups of a snapshot that are worth rewriting.
   *
   * @param where only files that may have a row that satisfies this condition are chosen; all their rows are rewritten
   */
  def plan(
      table: Table,
      snapshot: Snapshot,
      where: Expression,
      options: RewriteOptions,
      caseSensitive: Boolean = true
  ): Vector[FileGroup] = {
    val scan = TableScan(table.tree(), Some(snapshot), where, caseSensitive)
      .copy(wholeFiles = true, statsToKeep = StatsToKeep.Of(Set.empty))
    val byPartition =
      mutable.LinkedHashMap.empty[Option[PartitionTuple], mutable.Builder[FileScanTask, Vector[FileScanTask]]]
    scan.plan().tasks.foreach { task =>
      val key = if (task.file.specId == options.outputSpecId) Some(task.file.partition) else None
      byPartition.getOrElseUpdate(key, Vector.newBuilder) += task.copy(residual = AlwaysTrue)
    }
    val groups = byPartition.iterator.flatMap { case (partition, tasks) =>
      groupsOf(partition, tasks.result(), options)
    }
    val ordered = options.order.ordering.fold(groups.toVector)(groups.toVector.sorted(_))
    options.maxFiles.fold(ordered)(limit(ordered, _))
  }

  private def groupsOf(
      partition: Option[PartitionTuple],
      tasks: Vector[FileScanTask],
      options: RewriteOptions
  ): Vector[FileGroup] = {
    val chosen = if (options.rewriteAll) tasks else tasks.filter(isChosen(_, options))
    divide(chosen, options).flatMap(group => reasonFor(group, options).map(FileGroup(partition, group, _)))
  }

  private def isChosen(task: FileScanTask, options: RewriteOptions): Boolean = {
    val size = task.file.fileSizeInBytes
    size < options.minFileSize || size > options.maxFileSize || hasManyDeletes(task, options)
  }

  private def hasManyDeletes(task: FileScanTask, options: RewriteOptions): Boolean =
    task.deletes.size >= options.deleteFileThreshold || {
      val rows = task.file.recordCount
      val deleted = task.deletes.iterator.filter(_.file.onlyDataFile.isDefined).map(_.file.recordCount).sum
      rows > 0 && math.min(deleted, rows).toDouble / rows >= options.deleteRatioThreshold
    }

  /** Divides the files of a partition into groups within the limits of size and number. */
  private def divide(tasks: Vector[FileScanTask], options: RewriteOptions): Vector[Vector[FileScanTask]] = {
    val groups = Vector.newBuilder[Vector[FileScanTask]]
    var group = Vector.newBuilder[FileScanTask]
    var (files, bytes) = (0L, 0L)
    tasks.foreach { task =>
      val size = task.file.fileSizeInBytes
      if (files > 0 && (bytes + size > options.maxGroupSize || files == options.maxGroupFiles)) {
        groups += group.result()
        group = Vector.newBuilder[FileScanTask]
        files = 0
        bytes = 0
      }
      group += task
      files += 1
      bytes += size
    }
    if (files > 0) groups += group.result()
    groups.result()
  }

  /** Returns why a group is rewritten; absent if a rewrite would not improve it. */
  private def reasonFor(tasks: Vector[FileScanTask], options: RewriteOptions): Option[String] = {
    val bytes = tasks.iterator.map(_.file.fileSizeInBytes).sum
    val withDeletes = tasks.count(hasManyDeletes(_, options))
    if (options.rewriteAll) Some("all files are rewritten")
    else if (withDeletes > 0) Some(s"$withDeletes of ${tasks.size} files have many deleted rows")
    else if (tasks.size > 1 && tasks.size >= options.minInputFiles)
      Some(s"${tasks.size} files have sizes outside of ${options.minFileSize} to ${options.maxFileSize} bytes")
    else if (tasks.size > 1 && bytes > options.targetFileSize)
      Some(s"${tasks.size} files fill at least one file of ${options.targetFileSize} bytes")
    else if (bytes > options.maxFileSize) Some(s"a file is larger than ${options.maxFileSize} bytes")
    else None
  }

  /** Returns the first groups, until they have the given number of files. The last group may lose some of its files. */
  private def limit(groups: Vector[FileGroup], maxFiles: Int): Vector[FileGroup] = {
    val firsts = groups.scanLeft(0)(_ + _.tasks.size)
    groups.zip(firsts).collect {
      case (group, first) if first < maxFiles =>
        group.copy(tasks = group.tasks.take(maxFiles - first))
    }
  }
}
