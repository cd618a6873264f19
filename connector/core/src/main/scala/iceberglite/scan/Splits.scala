package iceberglite.scan

import scala.collection.mutable.ArrayBuffer

import iceberglite.spec.IcebergError.InvalidArgument

/** Splits files and combines the splits into groups of similar size, one per Spark task, as Apache Iceberg does. */
object Splits {

  /**
   * Splits files and combines the splits into groups.
   *
   * @param tasks files, or splits of files
   * @param targetSize the desired size of a group in bytes
   * @param openCost the minimum weight of a split in bytes; it limits the number of small files in a group
   * @param lookback the maximum number of groups that are open for further splits at the same time
   * @return groups; adjacent splits of a file in the same group are joined
   */
  def of(
      tasks: Vector[FileScanTask],
      targetSize: Long,
      openCost: Long,
      lookback: Int
  ): Vector[Vector[FileScanTask]] = {
    check(targetSize, openCost, lookback)
    pack(tasks.iterator.flatMap(split(_, targetSize)), targetSize, openCost, lookback)
  }

  /**
   * Splits files with valid `split_offsets` at every row group, even files smaller than the target size, and combines
   * the splits into groups. A group can then combine a large row group of one file with smaller row groups of other
   * files. The disadvantage is that more files are opened by several tasks.
   */
  def ofRowGroups(
      tasks: Vector[FileScanTask],
      targetSize: Long,
      openCost: Long,
      lookback: Int
  ): Vector[Vector[FileScanTask]] = {
    check(targetSize, openCost, lookback)
    pack(tasks.iterator.flatMap(rowGroupSplits(_, targetSize)), targetSize, openCost, lookback)
  }

  /**
   * Like [[of]], but the splits of the groups are in the order of the files: each group begins after the end of the
   * previous one. There may be up to twice as many groups as the total size requires.
   */
  def inOrder(tasks: Vector[FileScanTask], targetSize: Long, openCost: Long): Vector[Vector[FileScanTask]] = {
    check(targetSize, openCost, lookback = 1)
    val groups = Vector.newBuilder[Vector[FileScanTask]]
    var open = new Bin
    tasks.iterator.flatMap(split(_, targetSize)).foreach { piece =>
      val weight = Splits.weight(piece, openCost)
      if (open.tasks.nonEmpty && open.weight + weight > targetSize) {
        groups += open.result()
        open = new Bin
      }
      open.tasks += piece
      open.weight += weight
    }
    if (open.tasks.nonEmpty) groups += open.result()
    groups.result()
  }

  private def check(targetSize: Long, openCost: Long, lookback: Int): Unit = {
    if (targetSize <= 0) throw InvalidArgument("split size", targetSize.toString, "It must be positive")
    if (lookback <= 0) throw InvalidArgument("planning lookback", lookback.toString, "It must be positive")
    if (openCost < 0) throw InvalidArgument("file open cost", openCost.toString, "It must not be negative")
  }

  /**
   * Returns the weight of a file or split in bytes: the total length of the split and of the delete files that apply
   * only to this data file, but at least the cost of opening these files. Delete files that apply to several data files
   * are not included, because they are read once for all of these data files.
   */
  def weight(task: FileScanTask, openCost: Long): Long = {
    val deletes = task.deletes.iterator.filter(_.appliesToOneFile)
    val (files, bytes) = deletes.foldLeft((1L, task.length)) { case ((n, sum), d) => (n + 1, sum + d.storedBytes) }
    math.max(bytes, files * openCost)
  }

  /** Combines whole files without splitting them. A file larger than the target size is a group of its own. */
  def ofWholeFiles(
      tasks: Vector[FileScanTask],
      targetSize: Long,
      openCost: Long,
      lookback: Int
  ): Vector[Vector[FileScanTask]] = pack(tasks.iterator, targetSize, openCost, lookback)

  /**
   * Splits files into groups of similar size, in the order of the files.
   *
   * @param groups the maximum number of groups; there are fewer if the files have fewer splits
   */
  def evenly(tasks: Vector[FileScanTask], groups: Int): Vector[Vector[FileScanTask]] = {
    if (groups <= 0) throw InvalidArgument("number of groups", groups.toString, "It must be positive")
    val total = tasks.iterator.map(_.length).sum
    val bins = Vector.fill(groups)(new Bin)
    val targetSize = math.max(1L, (total + groups - 1) / groups)
    var before = 0L
    tasks.iterator.flatMap(split(_, targetSize)).foreach { piece =>
      // The position of the split's middle in the concatenation of all files determines its group.
      val middle = before + piece.length / 2
      bins(math.min(groups - 1L, middle / targetSize).toInt).tasks += piece
      before += piece.length
    }
    bins.filter(_.tasks.nonEmpty).map(_.result())
  }

  /**
   * Returns the splits of a task. A split has at most the target size, unless a single row group or stripe is larger.
   * Files without valid `split_offsets`, such as Avro files, are split at multiples of the target size.
   */
  private[scan] def split(task: FileScanTask, targetSize: Long): Iterator[FileScanTask] =
    if (task.length <= targetSize) Iterator.single(task)
    else {
      val cuts = rowGroups(task).getOrElse(evenOffsets(task, targetSize))
      splitsAt(task, combinedEnds(task.start, cuts :+ task.end, targetSize))
    }

  private def rowGroupSplits(task: FileScanTask, targetSize: Long): Iterator[FileScanTask] =
    rowGroups(task).fold(split(task, targetSize))(cuts => splitsAt(task, cuts :+ task.end))

  private def splitsAt(task: FileScanTask, ends: Vector[Long]): Iterator[FileScanTask] =
    (task.start +: ends.init).iterator.zip(ends.iterator).map { case (start, end) =>
      task.copy(start = start, length = end - start)
    }

  /**
   * Returns the offsets of the row groups or stripes within the task; absent if the file's `split_offsets` are missing,
   * not in ascending order or not within the file.
   */
  private def rowGroups(task: FileScanTask): Option[Vector[Long]] = {
    val offsets = task.file.splitOffsets
    val ascending = offsets.size < 2 || offsets.iterator.sliding(2).forall(pair => pair.head < pair.last)
    val inFile = offsets.nonEmpty && offsets.head >= 0 && offsets.last < task.file.fileSizeInBytes
    // The first offset is not a boundary, because the file header before it belongs to the first split.
    if (ascending && inFile) Some(offsets.tail.filter(o => o > task.start && o < task.end)) else None
  }

  /**
   * Returns boundaries at multiples of the target size. The boundaries need not be those of row groups, because a
   * reader of a split reads the Parquet row groups and ORC stripes whose middle is in the split, and the Avro blocks
   * whose start is in the split.
   */
  private def evenOffsets(task: FileScanTask, targetSize: Long): Vector[Long] =
    Iterator.iterate(task.start + targetSize)(_ + targetSize).takeWhile(_ < task.end).toVector

  /** Combines adjacent row groups up to the target size. @return the ends of the combined ranges */
  private def combinedEnds(start: Long, cuts: Vector[Long], targetSize: Long): Vector[Long] = {
    val ends = ArrayBuffer.empty[Long]
    var from = start
    cuts.indices.foreach { i =>
      val isLast = i == cuts.size - 1
      if (isLast || cuts(i + 1) - from > targetSize) {
        ends += cuts(i)
        from = cuts(i)
      }
    }
    ends.toVector
  }

  /** A group that is being filled with splits. */
  final private class Bin {
    val tasks: ArrayBuffer[FileScanTask] = ArrayBuffer.empty
    var weight = 0L

    def result(): Vector[FileScanTask] = {
      val merged = Vector.newBuilder[FileScanTask]
      var open = tasks.head
      tasks.iterator.drop(1).foreach { next =>
        if (open.isFollowedBy(next)) open = open.copy(length = open.length + next.length)
        else {
          merged += open
          open = next
        }
      }
      merged += open
      merged.result()
    }
  }

  /**
   * Adds each split to the first open bin with enough space. If there are too many open bins, the fullest bin is
   * closed.
   */
  private def pack(
      splits: Iterator[FileScanTask],
      targetSize: Long,
      openCost: Long,
      lookback: Int
  ): Vector[Vector[FileScanTask]] = {
    val groups = Vector.newBuilder[Vector[FileScanTask]]
    val open = ArrayBuffer.empty[Bin]
    splits.foreach { piece =>
      val weight = Splits.weight(piece, openCost)
      val binIndex = firstBinUpTo(targetSize - weight, open)
      val bin = if (binIndex < open.size) open(binIndex) else new Bin
      if (binIndex == open.size) open += bin
      bin.tasks += piece
      bin.weight += weight
      if (open.size > lookback) groups += open.remove(fullest(open)).result()
    }
    open.foreach(groups += _.result())
    groups.result()
  }

  /**
   * Returns the index of the first open bin that weighs at most `maxWeight`, or the number of open bins if all bins are
   * heavier.
   */
  private def firstBinUpTo(maxWeight: Long, open: ArrayBuffer[Bin]): Int = {
    var i = 0
    while (i < open.size && open(i).weight > maxWeight) i += 1
    i
  }

  private def fullest(open: ArrayBuffer[Bin]): Int = {
    var best = 0
    var i = 1
    while (i < open.size) {
      if (open(i).weight > open(best).weight) best = i
      i += 1
    }
    best
  }
}
