package iceberglite.scan

import iceberglite.spec.{ContentFile, PartitionSpec}
import iceberglite.spec.expr.Expression

/**
 * A data file, or a piece of one, that a scan reads.
 *
 * @param spec the partition spec of the file
 * @param residual what is left of the filter for the rows of this file, bound as the scan's filter is
 * @param deletes the delete files that apply to the rows: equality deletes, and a deletion vector or position deletes
 * @param start the piece holds the row groups (stripes, blocks) whose middle lies in `start` until `start + length`
 */
final case class FileScanTask(
    file: ContentFile,
    dataSequenceNumber: Long,
    spec: PartitionSpec,
    residual: Expression,
    start: Long,
    length: Long,
    deletes: Vector[DeleteFile] = Vector.empty
) {
  def end: Long = start + length

  def isWholeFile: Boolean = start == 0 && length >= file.fileSizeInBytes

  /**
   * How many rows of the file are not deleted, as far as metadata tells for certain: vectors count what they hold. A
   * file whose entry does not count its rows has 0.
   */
  def liveRecords: Long =
    math.max(0L, file.recordCount - deletes.iterator.filter(_.isVector).map(_.file.recordCount).sum)

  /** How many rows the piece has, if they are spread evenly. */
  def estimatedRows: Long =
    if (isWholeFile) liveRecords
    else (liveRecords.toDouble * length / math.max(1L, file.fileSizeInBytes)).round

  /** Whether `next` is the piece of the same file that comes right after this one. */
  private[scan] def isFollowedBy(next: FileScanTask): Boolean =
    end == next.start && (file eq next.file) && residual == next.residual
}

object FileScanTask {
  def whole(file: ContentFile, dataSequenceNumber: Long, spec: PartitionSpec, residual: Expression): FileScanTask =
    FileScanTask(file, dataSequenceNumber, spec, residual, 0L, file.fileSizeInBytes)
}
