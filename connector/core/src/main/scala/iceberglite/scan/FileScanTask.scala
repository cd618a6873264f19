package iceberglite.scan

import iceberglite.spec.{ContentFile, PartitionSpec}
import iceberglite.spec.expr.Expression
import iceberglite.spec.expr.Expression.AlwaysTrue

/**
 * A data file, or a piece of one, that a scan reads.
 *
 * @param spec the partition spec of the file
 * @param residual what is left of the filter for the rows of this file, bound as the scan's filter is
 * @param deletes the delete files that apply to the rows: equality deletes, and a deletion vector or position deletes
 * @param start the piece holds the row groups (stripes, blocks) whose middle lies in `start` until `start + length`
 * @param change of a changelog: what happened to the rows, and to which of them
 */
final case class FileScanTask(
    file: ContentFile,
    dataSequenceNumber: Long,
    spec: PartitionSpec,
    residual: Expression,
    start: Long,
    length: Long,
    deletes: Vector[DeleteFile] = Vector.empty,
    change: Option[RowChange] = None
) {
  def end: Long = start + length

  def isWholeFile: Boolean = start == 0 && length >= file.fileSizeInBytes

  /**
   * How many rows of the file are not deleted, as far as metadata tells for certain: vectors count what they hold. A
   * file whose entry does not count its rows has 0.
   */
  def liveRecords: Long = {
    val candidates = change.flatMap(_.among).fold(file.recordCount)(FileScanTask.inVectors)
    math.max(0L, candidates - FileScanTask.inVectors(deletes))
  }

  /**
   * How many rows of the file match the filter and are live for certain, by metadata alone: none where a part of the
   * filter is left, or where deletes apply that do not tell how many rows of this file they take.
   */
  def guaranteedRecords: Long =
    if (residual == AlwaysTrue && isWholeFile && deletes.forall(_.isVector)) liveRecords else 0L

  /** How many rows the piece has, if they are spread evenly. */
  def estimatedRows: Long =
    if (isWholeFile) liveRecords
    else (liveRecords.toDouble * length / math.max(1L, file.fileSizeInBytes)).round

  /** Whether `next` is the piece of the same file that comes right after this one. */
  private[scan] def isFollowedBy(next: FileScanTask): Boolean =
    end == next.start && (file eq next.file) && residual == next.residual && change == next.change
}

object FileScanTask {
  private def inVectors(deletes: Vector[DeleteFile]): Long =
    deletes.iterator.filter(_.isVector).map(_.file.recordCount).sum

  def whole(file: ContentFile, dataSequenceNumber: Long, spec: PartitionSpec, residual: Expression): FileScanTask =
    FileScanTask(file, dataSequenceNumber, spec, residual, 0L, file.fileSizeInBytes)
}
