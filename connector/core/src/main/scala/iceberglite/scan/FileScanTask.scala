package iceberglite.scan

import iceberglite.spec.{ContentFile, PartitionSpec}
import iceberglite.spec.expr.Expression

/**
 * A data file, or a piece of one, that a scan reads.
 *
 * @param spec the partition spec of the file
 * @param residual what is left of the filter for the rows of this file, bound as the scan's filter is
 * @param start the piece holds the row groups (stripes, blocks) whose middle lies in `start` until `start + length`
 */
final case class FileScanTask(
    file: ContentFile,
    dataSequenceNumber: Long,
    spec: PartitionSpec,
    residual: Expression,
    start: Long,
    length: Long
) {
  def end: Long = start + length

  def isWholeFile: Boolean = start == 0 && length >= file.fileSizeInBytes

  /** How many rows the piece has, if they are spread evenly. */
  def estimatedRows: Long =
    if (isWholeFile) file.recordCount
    else (file.recordCount.toDouble * length / math.max(1L, file.fileSizeInBytes)).round

  /** Whether `next` is the piece of the same file that comes right after this one. */
  private[scan] def isFollowedBy(next: FileScanTask): Boolean =
    end == next.start && (file eq next.file) && residual == next.residual
}

object FileScanTask {
  def whole(file: ContentFile, dataSequenceNumber: Long, spec: PartitionSpec, residual: Expression): FileScanTask =
    FileScanTask(file, dataSequenceNumber, spec, residual, 0L, file.fileSizeInBytes)
}
