package iceberglite.scan

import iceberglite.spec.expr.Expression
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.spec.file.ContentFile
import iceberglite.spec.partition.PartitionSpec
import iceberglite.scan.deletes.{DeleteFile, DeleteIndex}

/**
 * A data file, or a split of a data file, that a scan reads.
 *
 * @param spec the partition spec of the file
 * @param residual the residual filter for the rows of this file, bound to the same schema as the scan's filter
 * @param deletes the delete files that apply to the rows: equality deletes, and a deletion vector or position deletes
 * @param start start of the split in bytes. A split contains the Parquet row groups or ORC stripes whose middle is in
 *   the range from `start` (inclusive) to `start + length` (exclusive), or the Avro blocks whose start is in this range
 * @param change the change to the rows, in a changelog; otherwise absent
 * @param addedBy the id of the snapshot that added the file, if this JVM read the file's entry; otherwise 0
 */
final case class FileScanTask(
    file: ContentFile,
    dataSequenceNumber: Long,
    spec: PartitionSpec,
    residual: Expression,
    start: Long,
    length: Long,
    deletes: Vector[DeleteFile] = Vector.empty,
    change: Option[CommitChange] = None,
    addedBy: Long = 0L
) {
  def end: Long = start + length

  def isWholeFile: Boolean = start == 0 && length >= file.fileSizeInBytes

  /**
   * Returns an upper bound of the number of live rows in the file: the record count minus the number of rows in
   * deletion vectors. The bound is 0 if the manifest entry has no valid record count. If the task's change is limited
   * to the rows of some delete files, the rows in the deletion vectors among these files are counted instead of the
   * records of the file.
   */
  def liveRecords: Long = {
    val candidates = change.flatMap(_.deletesOfChangedRows).fold(file.recordCount)(FileScanTask.vectorRecords)
    math.max(0L, candidates - FileScanTask.vectorRecords(deletes))
  }

  /**
   * Returns whether the bound of [[liveRecords]] is known. It is unknown if the file has no valid record count, or if
   * the change is limited to the rows of delete files that must be read to count these rows.
   */
  def hasLiveRecords: Boolean =
    change.flatMap(_.deletesOfChangedRows).fold(file.hasRecordCount)(_.forall(_.isVector))

  /**
   * Returns a lower bound of the number of live rows that match the filter, according to metadata. The bound is 0 if
   * the task is a split, if there is a residual filter, or if it is unknown how many rows of this data file a delete
   * file deletes.
   */
  def guaranteedRecords: Long =
    if (residual == AlwaysTrue && isWholeFile && deletes.forall(_.isVector)) liveRecords else 0L

  /** Returns the estimated number of rows in the split, assuming that the file's rows are evenly distributed. */
  def estimatedRows: Long =
    if (isWholeFile) liveRecords
    else (liveRecords.toDouble * length / math.max(1L, file.fileSizeInBytes)).round

  /** Returns whether `next` is the adjacent split of the same file. */
  private[scan] def isFollowedBy(next: FileScanTask): Boolean =
    end == next.start && (file eq next.file) && residual == next.residual && change == next.change
}

object FileScanTask {
  private def vectorRecords(deletes: Vector[DeleteFile]): Long =
    deletes.iterator.filter(_.isVector).map(_.file.recordCount).sum

  /** Returns the tasks with the deletes in the index that apply to their files. */
  private[scan] def withDeletes(tasks: Vector[FileScanTask], index: DeleteIndex): Vector[FileScanTask] = {
    val deletesOf = index.lookup
    tasks.map { task =>
      val found = deletesOf(task.file, task.dataSequenceNumber)
      if (found.isEmpty) task else task.copy(deletes = found)
    }
  }

  /**
   * Returns one task for each data file, even if the table lists a file twice, so that a writer creates at most one
   * deletion vector for the file. Of several tasks, the one with the lowest data sequence number is returned.
   *
   * @param tasks tasks of whole files
   * @return None if two tasks of a file have different deletes, because a new delete file would apply to both
   */
  def onePerFile(tasks: Vector[FileScanTask]): Option[Vector[FileScanTask]] = {
    def deletesOf(task: FileScanTask) = task.deletes.map(_.location).toSet
    val byPath = tasks.groupBy(_.file.path)
    if (byPath.size == tasks.size) Some(tasks)
    else if (byPath.valuesIterator.exists(_.map(deletesOf).distinct.size > 1)) None
    else Some(tasks.map(_.file.path).distinct.map(byPath(_).minBy(_.dataSequenceNumber)))
  }

  /** Returns a task that reads a whole file, without deletes. */
  def whole(
      file: ContentFile,
      dataSequenceNumber: Long,
      spec: PartitionSpec,
      residual: Expression,
      addedBy: Long = 0L
  ): FileScanTask =
    FileScanTask(file, dataSequenceNumber, spec, residual, 0L, file.fileSizeInBytes, addedBy = addedBy)
}
