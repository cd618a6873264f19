package iceberglite.scan

import scala.collection.mutable.ArrayBuffer

import iceberglite.spec.IcebergError.InvalidArgument

/** Cuts files into pieces and packs pieces into tasks of about one size, as Apache Iceberg does. */
object Splits {

  /**
   * @param tasks files, or pieces of files
   * @param targetSize how many bytes a group is to have
   * @param openCost what a piece counts at least, in bytes, so that no group gets very many small files
   * @param lookback how many groups are kept open to put pieces in
   * @return groups; pieces of one file that meet in a group are one again
   */
  def of(
      tasks: Vector[FileScanTask],
      targetSize: Long,
      openCost: Long,
      lookback: Int
  ): Vector[Vector[FileScanTask]] = {
    check(targetSize, openCost, lookback)
    pack(tasks.iterator.flatMap(pieces(_, targetSize)), targetSize, openCost, lookback)
  }

  /**
   * Packs single row groups, also those of files of less than the target size. Row groups of more than half the target
   * size of one file and smaller ones of another then fill a task, at the cost of more files that two tasks open.
   */
  def ofRowGroups(
      tasks: Vector[FileScanTask],
      targetSize: Long,
      openCost: Long,
      lookback: Int
  ): Vector[Vector[FileScanTask]] = {
    check(targetSize, openCost, lookback)
    pack(tasks.iterator.flatMap(smallestPieces(_, targetSize)), targetSize, openCost, lookback)
  }

  private def check(targetSize: Long, openCost: Long, lookback: Int): Unit = {
    if (targetSize <= 0) throw InvalidArgument("split size", targetSize.toString, "It must be positive")
    if (lookback <= 0) throw InvalidArgument("planning lookback", lookback.toString, "It must be positive")
    if (openCost < 0) throw InvalidArgument("file open cost", openCost.toString, "It must not be negative")
  }

  /**
   * Returns what a file, or a piece of one, counts in a group: its bytes and those of the deletes that apply to it alone,
   * but at least the cost of opening these files. Delete files of a whole partition are read once for all its files.
   */
  def weight(task: FileScanTask, openCost: Long): Long = {
    val own = task.deletes.iterator.filter(_.isOfOneFile)
    val (files, bytes) = own.foldLeft((1L, task.length)) { case ((n, sum), d) => (n + 1, sum + d.storedBytes) }
    math.max(bytes, files * openCost)
  }

  /** The same without cutting: a file of more than the target size is a group of its own. */
  def ofWholeFiles(
      tasks: Vector[FileScanTask],
      targetSize: Long,
      openCost: Long,
      lookback: Int
  ): Vector[Vector[FileScanTask]] = pack(tasks.iterator, targetSize, openCost, lookback)

  /**
   * Cuts files into so many groups of about one size, in the order of the files.
   *
   * @param groups how many groups there are at most; fewer where the files have fewer pieces
   */
  def evenly(tasks: Vector[FileScanTask], groups: Int): Vector[Vector[FileScanTask]] = {
    if (groups <= 0) throw InvalidArgument("number of groups", groups.toString, "It must be positive")
    val total = tasks.iterator.map(_.length).sum
    val bins = Vector.fill(groups)(new Bin)
    val targetSize = math.max(1L, (total + groups - 1) / groups)
    var before = 0L
    tasks.iterator.flatMap(pieces(_, targetSize)).foreach { piece =>
      // The middle of a piece decides, so that no group differs from the others by more than a piece.
      val middle = before + piece.length / 2
      bins(math.min(groups - 1L, middle / targetSize).toInt).tasks += piece
      before += piece.length
    }
    bins.filter(_.tasks.nonEmpty).map(_.result())
  }

  /**
   * A task in pieces of at most the target size, but never less than a row group or stripe. Blocks of Avro files, of
   * which metadata does not tell, are less than any piece.
   */
  private[scan] def pieces(task: FileScanTask, targetSize: Long): Iterator[FileScanTask] =
    if (task.length <= targetSize) Iterator.single(task)
    else {
      val cuts = rowGroups(task).getOrElse(evenly(task, targetSize))
      between(task, joined(task.start, cuts :+ task.end, targetSize))
    }

  private def smallestPieces(task: FileScanTask, targetSize: Long): Iterator[FileScanTask] =
    rowGroups(task).fold(pieces(task, targetSize))(cuts => between(task, cuts :+ task.end))

  private def between(task: FileScanTask, ends: Vector[Long]): Iterator[FileScanTask] =
    (task.start +: ends.init).iterator.zip(ends.iterator).map { case (start, end) =>
      task.copy(start = start, length = end - start)
    }

  /**
   * Where row groups or stripes begin within the task; offsets that are not in order, or not in the file, are worth
   * nothing.
   */
  private def rowGroups(task: FileScanTask): Option[Vector[Long]] = {
    val offsets = task.file.splitOffsets
    val ascending = offsets.size < 2 || offsets.iterator.sliding(2).forall(pair => pair.head < pair.last)
    val inFile = offsets.nonEmpty && offsets.head >= 0 && offsets.last < task.file.fileSizeInBytes
    // The bytes before the first row group are the file's header: they go with it.
    if (ascending && inFile) Some(offsets.tail.filter(o => o > task.start && o < task.end)) else None
  }

  /** Readers find the row groups and stripes of any range by their middle, and blocks by their start. */
  private def evenly(task: FileScanTask, targetSize: Long): Vector[Long] =
    Iterator.iterate(task.start + targetSize)(_ + targetSize).takeWhile(_ < task.end).toVector

  /** The ends of runs as long as the target allows. */
  private def joined(start: Long, cuts: Vector[Long], targetSize: Long): Vector[Long] = {
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

  /** First fit among the open bins; with too many open, the fullest is closed. */
  private def pack(
      pieces: Iterator[FileScanTask],
      targetSize: Long,
      openCost: Long,
      lookback: Int
  ): Vector[Vector[FileScanTask]] = {
    val groups = Vector.newBuilder[Vector[FileScanTask]]
    val open = ArrayBuffer.empty[Bin]
    pieces.foreach { piece =>
      val weight = Splits.weight(piece, openCost)
      val fitting = firstWith(open, targetSize - weight)
      val bin = if (fitting < open.size) open(fitting) else new Bin
      if (fitting == open.size) open += bin
      bin.tasks += piece
      bin.weight += weight
      if (open.size > lookback) groups += open.remove(fullest(open)).result()
    }
    open.foreach(groups += _.result())
    groups.result()
  }

  /** The first that weighs no more; as many as there are, where none does. */
  private def firstWith(open: ArrayBuffer[Bin], weight: Long): Int = {
    var i = 0
    while (i < open.size && open(i).weight > weight) i += 1
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
