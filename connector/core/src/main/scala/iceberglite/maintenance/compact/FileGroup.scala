package iceberglite.maintenance.compact

import scala.collection.mutable

import iceberglite.maintenance.cluster.ClusterColumns
import iceberglite.scan.{FileScanTask, StatsToKeep, TableScan}
import iceberglite.spec.expr.Expression
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.spec.metadata.Snapshot
import iceberglite.spec.partition.PartitionTuple
import iceberglite.table.Table

/**
 * Data files that are rewritten together.
 *
 * @param partition the partition of the files and of the new files; absent if the files have other partition specs than
 *   the new files, because their rows may belong to several partitions of the new files
 * @param tasks the data files, each as a whole file with all of its deletes
 */
final case class FileGroup(partition: Option[PartitionTuple], tasks: Vector[FileScanTask], reason: String)
    extends RewriteGroup {

  override def files: Int = tasks.size

  override def bytes: Long = tasks.iterator.map(_.file.fileSizeInBytes).sum
}

/**
 * Chooses the data files to rewrite: by the rules of Apache Iceberg or, in a rewrite with clustering columns, by the
 * rules of [[ClusteredGroups]].
 */
object FileGroup {

  /**
   * Returns the file groups of a snapshot that are worth rewriting.
   *
   * @param where a condition: only files that may have a matching row are chosen. All rows of these files are rewritten
   * @param clustering if present, the files that are not yet clustered by these columns are chosen
   */
  def plan(
      table: Table,
      snapshot: Snapshot,
      where: Expression,
      options: RewriteOptions,
      caseSensitive: Boolean = true,
      clustering: Option[ClusterColumns] = None
  ): Vector[FileGroup] = {
    val clustered = clustering.map(new ClusteredGroups(_, table.metadata.snapshotsById.get, options))
    val partitions = byPartition(table, snapshot, where, options, caseSensitive, clustering)
    val groups = partitions.flatMap { case (partition, tasks) =>
      clustered.fold(groupsOf(partition, tasks, options))(clusteredGroups(partition, tasks, options, _))
    }
    val ordered = options.group.sorted(groups.toVector)
    options.maxFiles.fold(ordered)(limit(ordered, _))
  }

  /**
   * Groups the data files of a snapshot. The files that have the partition spec of the new files are grouped by
   * partition. All other files form one group, without a partition. Without clustering columns, only the files that
   * [[isChosen]] selects are returned, so that a table with many files needs little memory.
   */
  private[compact] def byPartition(
      table: Table,
      snapshot: Snapshot,
      where: Expression,
      options: RewriteOptions,
      caseSensitive: Boolean,
      clustering: Option[ClusterColumns]
  ): Iterator[(Option[PartitionTuple], Vector[FileScanTask])] = {
    val columns = clustering.fold(Set.empty[Int])(_.fields.map(_.id).toSet)
    val scan = TableScan(table.tree(), Some(snapshot), where, caseSensitive)
      .copy(wholeFiles = true, statsToKeep = StatsToKeep.Of(columns))
    val byPartition =
      mutable.LinkedHashMap.empty[Option[PartitionTuple], mutable.Builder[FileScanTask, Vector[FileScanTask]]]
    scan.plan().tasks.foreach { task =>
      if (clustering.isDefined || isChosen(task, options)) {
        val key = if (task.file.specId == options.outputSpecId) Some(task.file.partition) else None
        val whole = if (task.residual == AlwaysTrue) task else task.copy(residual = AlwaysTrue)
        byPartition.getOrElseUpdate(key, Vector.newBuilder) += whole
      }
    }
    byPartition.iterator.map { case (partition, tasks) => partition -> tasks.result() }
  }

  private[compact] def clusteredGroups(
      partition: Option[PartitionTuple],
      tasks: Vector[FileScanTask],
      options: RewriteOptions,
      clustered: ClusteredGroups
  ): Vector[FileGroup] =
    for ((files, reason) <- clustered.of(tasks); group <- options.group.divide(files)(_.file.fileSizeInBytes))
      yield FileGroup(partition, group, reason)

  private def groupsOf(
      partition: Option[PartitionTuple],
      chosen: Vector[FileScanTask],
      options: RewriteOptions
  ): Vector[FileGroup] = options.group.divide(chosen)(_.file.fileSizeInBytes)
    .flatMap(group => reasonFor(group, options).map(FileGroup(partition, group, _)))

  /** Returns whether a data file has an unsuitable size or many deletes, or all files are rewritten. */
  private[compact] def isChosen(task: FileScanTask, options: RewriteOptions): Boolean =
    options.group.isChosen(task.file.fileSizeInBytes) || hasManyDeletes(task, options)

  /** Returns whether the number of delete files or the ratio of deleted rows reaches its threshold. */
  private[compact] def hasManyDeletes(task: FileScanTask, options: RewriteOptions): Boolean =
    task.deletes.size >= options.deleteFileThreshold || deletedRatio(task) >= options.deleteRatioThreshold

  /**
   * Returns the ratio of deleted rows in a data file, from 0 to 1. Only delete files that apply to no other data file
   * are counted.
   */
  private[compact] def deletedRatio(task: FileScanTask): Double = deletedRatio(
    task.deletes.iterator.filter(_.file.onlyDataFile.isDefined).map(_.file.recordCount).sum,
    task.file.recordCount
  )

  /**
   * Returns the ratio of deleted rows, from 0 to 1. The ratio is limited to 1, because two delete files may delete the
   * same row.
   */
  def deletedRatio(deleted: Long, rows: Long): Double = if (rows > 0) math.min(deleted, rows).toDouble / rows else 0

  /** Returns why a group is rewritten; absent if a rewrite would not improve it. */
  private[compact] def reasonFor(tasks: Vector[FileScanTask], options: RewriteOptions): Option[String] = {
    val withDeletes = if (options.group.rewriteAll) 0 else tasks.count(hasManyDeletes(_, options))
    if (withDeletes > 0) Some(s"$withDeletes of ${tasks.size} files have many deleted rows")
    else options.group.reasonFor(tasks.size.toLong, tasks.iterator.map(_.file.fileSizeInBytes).sum)
  }

  /**
   * Returns the first groups, with at most the given number of files in total. The last group may be returned without
   * some of its files.
   */
  private def limit(groups: Vector[FileGroup], maxFiles: Int): Vector[FileGroup] = {
    val firsts = groups.scanLeft(0)(_ + _.tasks.size)
    groups.zip(firsts).collect {
      case (group, first) if first < maxFiles =>
        group.copy(tasks = group.tasks.take(maxFiles - first))
    }
  }
}
