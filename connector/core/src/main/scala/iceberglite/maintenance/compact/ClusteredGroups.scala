package iceberglite.maintenance.compact

import iceberglite.maintenance.cluster.{Box, ClusterColumns, ClusterRun}
import iceberglite.maintenance.compact.ClusteredGroups.RunFile
import iceberglite.scan.FileScanTask
import iceberglite.spec.metadata.{Snapshot, SummaryKey}

/**
 * Chooses the files of a clustered table to rewrite: the files that are not clustered yet. The files of a partition are
 * first divided into ranges of values: sets of files whose bounds do not overlap the bounds of other sets.
 *
 * The files of a partition that one snapshot added form a run. These files are chosen:
 *
 *   - files that bin-packing would choose, by their sizes and their deleted rows. Sizes of files that a rewrite has
 *     clustered are ignored, because they depend on the data, unless the files of the run are in total smaller than the
 *     minimum file size;
 *   - files of runs that overlap in the clustering columns, unless the summary of the snapshot states that the
 *     snapshot's commit clustered them.
 *
 * The chosen files are clustered together. A clustered run is rewritten together with the chosen files if it has at
 * most as many rows as the chosen files and all smaller clustered runs in the same range of values. In this case, the
 * smaller clustered runs are rewritten, too. Therefore the number of runs in a range grows with the logarithm of the
 * number of rows, and the rows of a run are rewritten only into a run that has at least twice as many rows.
 *
 * A second rewrite right after the first one finds no files to rewrite: all files that the first one chose have been
 * clustered, and runs are merged only if some of the runs are newer than the last rewrite.
 *
 * @param snapshotOf returns a snapshot by its id; `None` if it has expired
 */
final private[compact] class ClusteredGroups(
    columns: ClusterColumns,
    snapshotOf: Long => Option[Snapshot],
    options: RewriteOptions
) {

  /**
   * If a clustered run has more bytes than this in one range of values, the run is not merged, because the file group
   * would be divided again.
   */
  private val maxMergedBytes = options.group.maxGroupSize / 2

  /** Returns the sets of files of a partition that are clustered together, each with the reason. */
  def of(tasks: Vector[FileScanTask]): Vector[(Vector[FileScanTask], String)] =
    if (options.group.rewriteAll) Vector(tasks -> "all files are rewritten")
    else {
      val files = runFiles(tasks)
      val isRecent = recentRuns(files.map(_.snapshotId).distinct)
      val choices = Box.separate(files)(_.box).map(choose(_, isRecent))
      val (worth, others) = choices.partition(c => c.isWorthRewriting && c.bytes >= options.group.minFileSize)
      // Small files that do not overlap each other are combined, too.
      val small = new Choice(others.flatMap(_.chosen), others.filter(_.isWorthRewriting).flatMap(_.merged))
      (worth ++ Some(small).filter(_.isWorthRewriting)).map(choice => (choice.tasks, choice.reason))
    }

  /** Returns how well the files of a partition are clustered. */
  def degree(tasks: Vector[FileScanTask]): ClusterDegree = {
    val files = runFiles(tasks)
    val unclustered = files.filter(file => file.isChosen && !FileGroup.hasManyDeletes(file.task, options))
    ClusterDegree(
      files.size.toLong,
      unclustered.size.toLong,
      bytes(unclustered),
      Box.overlapOf(files.map(_.box)) * files.size
    )
  }

  private def runFiles(tasks: Vector[FileScanTask]): Vector[RunFile] = {
    val runs = tasks.zip(Box.of(columns, tasks.map(_.file))).groupBy(_._1.addedBy).toVector.sortBy(_._1)
    runs.flatMap { case (snapshotId, files) => filesOf(snapshotId, files) }
  }

  private def isRecorded(snapshotId: Long): Boolean =
    snapshotOf(snapshotId).exists(_.summary.get(SummaryKey.ClusteredBy).contains(columns.ids))

  /**
   * Returns a predicate that is true for snapshots that are newer than the last snapshot that clustered files of the
   * partition. If there is no such snapshot, the predicate is true for all snapshots.
   */
  private def recentRuns(snapshotIds: Vector[Long]): Long => Boolean = {
    def time(snapshotId: Long): Option[(Long, Long)] =
      snapshotOf(snapshotId).map(s => (s.sequenceNumber, s.timestampMs))
    val recorded = snapshotIds.filter(isRecorded).flatMap(time)
    if (recorded.isEmpty) _ => true
    else {
      val last = recorded.max
      id => time(id).exists(Ordering[(Long, Long)].gt(_, last))
    }
  }

  /** Returns the files of the run that the given snapshot added. */
  private def filesOf(snapshotId: Long, files: Vector[(FileScanTask, Box)]): Vector[RunFile] = {
    val recorded = isRecorded(snapshotId)
    val ignoresSizes = recorded && files.iterator.map(_._1.file.fileSizeInBytes).sum >= options.group.minFileSize
    val candidates = files.map { case (task, box) =>
      val isChosen = if (ignoresSizes) FileGroup.hasManyDeletes(task, options) else FileGroup.isChosen(task, options)
      RunFile(task, box, snapshotId, isChosen)
    }
    val others = candidates.filterNot(_.isChosen).map(_.box)
    val isClustered = others.isEmpty || recorded || new ClusterRun(others, snapshotOf(snapshotId).isEmpty).isClustered
    if (isClustered) candidates else candidates.map(_.copy(isChosen = true))
  }

  /** Chooses the files to rewrite from the files in one range of values. */
  private def choose(files: Vector[RunFile], isRecent: Long => Boolean): Choice = {
    val (chosen, clustered) = files.partition(_.isChosen)
    val runs = clustered.groupBy(_.snapshotId).toVector.sortBy(_._1)
    val candidates = runs.map(_._2).filter(bytes(_) <= maxMergedBytes).sortBy(rows)
    val smallerRows = candidates.scanLeft(rows(chosen))(_ + rows(_))
    val last = candidates.indices.lastIndexWhere(i => smallerRows(i) > 0 && rows(candidates(i)) <= smallerRows(i))
    val merged = candidates.take(last + 1).flatten
    val hasNewRows = (chosen ++ merged).exists(file => isRecent(file.snapshotId))
    new Choice(chosen, if (hasNewRows) merged else Vector.empty)
  }

  private def rows(files: Vector[RunFile]): Long = files.iterator.map(_.task.file.recordCountOrZero).sum

  private def bytes(files: Vector[RunFile]): Long = files.iterator.map(_.task.file.fileSizeInBytes).sum

  /**
   * Files that are clustered together.
   *
   * @param chosen the files that must be rewritten
   * @param merged files of clustered runs that are rewritten together with the chosen files
   */
  final private class Choice(val chosen: Vector[RunFile], val merged: Vector[RunFile]) {
    val tasks: Vector[FileScanTask] = (chosen ++ merged).map(_.task)

    def bytes: Long = tasks.iterator.map(_.file.fileSizeInBytes).sum

    def isWorthRewriting: Boolean = FileGroup.reasonFor(tasks, options).isDefined

    def reason: String = {
      val withDeletes = chosen.count(file => FileGroup.hasManyDeletes(file.task, options))
      val parts = Seq(
        (chosen.size - withDeletes) -> s"files are not yet clustered by $columns",
        withDeletes -> "files have many deleted rows",
        merged.size -> "clustered files of earlier rewrites cover the same range of values"
      )
      parts.collect { case (count, text) if count > 0 => s"$count $text" }.mkString("; ")
    }
  }
}

private object ClusteredGroups {

  /**
   * A data file of a run.
   *
   * @param snapshotId the id of the snapshot that added the file
   * @param isChosen whether the file must be rewritten
   */
  final private case class RunFile(task: FileScanTask, box: Box, snapshotId: Long, isChosen: Boolean)
}
