package iceberglite.spark.rowlevel

import org.apache.spark.sql.connector.write.WriterCommitMessage

import iceberglite.data.{WrittenFile => NewFile}
import iceberglite.puffin.DeletionVector
import iceberglite.spark.write.{RowCounts, WrittenFile}
import iceberglite.spark.write.files.FinishedFile
import iceberglite.spec.file.{Content, ContentFile, FileFormat, MetricMaps, Metrics}
import iceberglite.spec.partition.PartitionTuple

/**
 * A delete file of a task, in a form that is sent to the driver, which knows specs and partitions.
 *
 * @param dataFiles the data files to which it applies
 * @param place offset and size of a deletion vector in its file; absent for position delete files
 */
final private[rowlevel] case class WrittenDeletes(
    file: WrittenFile,
    format: FileFormat,
    dataFiles: Array[String],
    place: Option[(Long, Long)]
) extends Serializable {

  /** Returns the metadata of the delete file. @param data one of the data files, for spec and partition */
  def contentFile(data: ContentFile): ContentFile = ContentFile(
    content = Content.PositionDeletes,
    path = file.path,
    format = format,
    specId = data.specId,
    partition = data.partition,
    recordCount = file.recordCount,
    fileSizeInBytes = file.length,
    metrics = file.metrics,
    splitOffsets = file.splitOffsets.toVector,
    referencedDataFile = if (dataFiles.length == 1) dataFiles.headOption else None,
    contentOffset = place.map(_._1),
    contentSizeInBytes = place.map(_._2)
  )
}

private[rowlevel] object WrittenDeletes {

  def ofVector(vector: ContentFile): WrittenDeletes = WrittenDeletes(
    written(vector.path, vector.recordCount, vector.fileSizeInBytes, Metrics.Empty, Vector.empty),
    FileFormat.Puffin,
    vector.referencedDataFile.toArray,
    for (offset <- vector.contentOffset; size <- vector.contentSizeInBytes) yield (offset, size)
  )

  def ofPositions(file: NewFile, dataFiles: Vector[String]): WrittenDeletes = WrittenDeletes(
    written(file.path, file.recordCount, file.fileSizeInBytes, file.metrics, file.splitOffsets),
    file.format,
    dataFiles.toArray,
    None
  )

  private def written(path: String, rows: Long, length: Long, m: Metrics, splitOffsets: Vector[Long]): WrittenFile = {
    val maps =
      MetricMaps(m.columnSizes, m.valueCounts, m.nullValueCounts, m.nanValueCounts, m.lowerBounds, m.upperBounds)
    WrittenFile.of(path, PartitionTuple.Empty, FinishedFile(rows, length, maps, splitOffsets), sorted = false)
  }
}

/**
 * A small deletion vector that is sent to the driver, which writes those of all tasks to one file.
 *
 * @param vector in its stored form
 */
final private[rowlevel] case class SentVector(dataFile: String, vector: Array[Byte]) extends Serializable {
  def positions: DeletionVector = DeletionVector.parse("the message of a task", dataFile, vector)
}

/** The deletes of a task: in files, or too small for a file of their own. */
final private[rowlevel] case class TaskDeletes(files: Array[WrittenDeletes], vectors: Array[SentVector])
    extends Serializable

private[rowlevel] object TaskDeletes {
  val Empty: TaskDeletes = TaskDeletes(Array.empty, Array.empty)
}

/**
 * The result of a statement's task for the driver: the files with new rows, the deletes, and the numbers of changed
 * rows.
 */
final private[rowlevel] class WrittenChanges(
    val files: Array[WrittenFile],
    val deletes: TaskDeletes,
    val counts: RowCounts
) extends WriterCommitMessage
