package iceberglite.spark.rowlevel

import iceberglite.data.WrittenPositionDeletes
import iceberglite.puffin.DeletionVector
import iceberglite.spark.write.{RowCounts, TaskResult}
import iceberglite.spec.file.ContentFile
import iceberglite.spec.partition.{PartitionSpec, PartitionTuple}

/**
 * A delete file that a task has written. The driver adds the partition spec and the partition of the data files to the
 * metadata of the delete file.
 *
 * @param dataFiles the paths of the data files to which the delete file applies
 */
final private[rowlevel] case class WrittenDeletes(file: ContentFile, dataFiles: Array[String]) extends Serializable {

  /** Returns the metadata of the delete file. @param data one of the data files */
  def contentFile(data: ContentFile): ContentFile = file.copy(specId = data.specId, partition = data.partition)
}

private[rowlevel] object WrittenDeletes {
  def ofVector(vector: ContentFile): WrittenDeletes = WrittenDeletes(vector, vector.referencedDataFile.toArray)

  def ofPositions(written: WrittenPositionDeletes): WrittenDeletes = WrittenDeletes(
    written.contentFile(PartitionSpec.Unpartitioned.specId, PartitionTuple.Empty),
    written.dataFiles.toArray
  )
}

/**
 * A small deletion vector that a task sends to the driver. The driver writes the small deletion vectors of all tasks to
 * one file.
 *
 * @param vector the deletion vector in its serialized form
 */
final private[rowlevel] case class DeletionVectorMessage(dataFile: String, vector: Array[Byte]) extends Serializable {
  def positions: DeletionVector = DeletionVector.parse("the message of a task", dataFile, vector)
}

/** The deletes of a task: delete files, and small deletion vectors that the driver writes. */
final private[rowlevel] case class TaskDeletes(files: Array[WrittenDeletes], vectors: Array[DeletionVectorMessage])
    extends Serializable

private[rowlevel] object TaskDeletes {
  val Empty: TaskDeletes = TaskDeletes(Array.empty, Array.empty)
}

/**
 * The result that a task of a statement sends to the driver: the files with new rows, the deletes, and the numbers of
 * changed rows.
 */
final private[rowlevel] class WrittenChanges(
    val files: Array[ContentFile],
    val deletes: TaskDeletes,
    val counts: RowCounts
) extends TaskResult {
  override def paths: Vector[String] = (files ++ deletes.files.map(_.file)).iterator.map(_.path).toVector
}
