package iceberglite.spark.rowlevel

import iceberglite.data.PositionDeleteFiles
import iceberglite.puffin.{DeletedRows, DeletionVector, DeletionVectorFiles}
import iceberglite.scan.deletes.{DeleteFile, DeleteReader}
import iceberglite.spark.write.files.RowFaults
import iceberglite.spec.IcebergError.StorageFailed
import iceberglite.spec.file.{ContentFile, FileFormat}
import iceberglite.spec.partition.{PartitionSpec, PartitionTuple}
import iceberglite.spec.property.DeleteGranularity
import iceberglite.storage.FileIO
import iceberglite.table.{DataFileNames, DataLocations}

/** The form in which the deletes of a statement are written. */
sealed private[rowlevel] trait DeleteForm extends Serializable
private[rowlevel] object DeleteForm {

  /**
   * Deletion vectors (version 3).
   *
   * @param sentBytes maximum number of bytes of deletion vectors that a task sends to the driver instead of writing
   *   them to a file
   */
  final case class Vectors(sentBytes: Long) extends DeleteForm

  /** Position delete files. @param properties the table properties for writing these files */
  final case class PositionFiles(
      granularity: DeleteGranularity,
      format: FileFormat,
      targetSize: Long,
      properties: Map[String, String]
  ) extends DeleteForm {
    def extension: String = s"-deletes${format.extension}"
  }
}

/**
 * The settings for writing delete files. The driver sends them to the tasks of a statement.
 *
 * @param existingDeletes for each data file, by path, the existing deletes that are merged with its new deletes
 * @param table the name of the table, for messages
 */
final private[rowlevel] case class DeleteFileTarget(
    form: DeleteForm,
    locations: DataLocations,
    io: FileIO,
    specs: Map[Int, PartitionSpec],
    existingDeletes: Map[String, Vector[DeleteFile]],
    table: String
) {

  /**
   * The reader of position delete files. It needs no name mapping, because the columns of these files have fixed names.
   */
  private def reader = new DeleteReader(io, specs, nameMapping = None)

  /**
   * Writes the deletes of a task.
   *
   * @param names returns names for the task's files with a given file extension
   * @param onCreate called with the path of each file before it is created
   */
  def write(deletes: CollectedPositionDeletes, names: String => DataFileNames, onCreate: String => Unit): TaskDeletes =
    try writeAll(deletes, names, onCreate)
    catch { case failed: StorageFailed => throw RowFaults.ofTable(failed, table) }

  private def writeAll(
      deletes: CollectedPositionDeletes,
      names: String => DataFileNames,
      onCreate: String => Unit
  ): TaskDeletes = {
    val reader = this.reader
    val files = deletes.byPath.map { d =>
      val path = d.path.toString
      (d.group, (path, d.positions.union(reader.of(path, existingDeletes.getOrElse(path, Vector.empty)).positions)))
    }
    if (files.isEmpty) TaskDeletes.Empty
    else form match {
      case DeleteForm.Vectors(sentBytes) => messageOf(files.map(_._2), sentBytes).getOrElse {
          TaskDeletes(writeVectors(files.map(_._2), names(FileFormat.Puffin.extension), onCreate), Array.empty)
        }
      case positions: DeleteForm.PositionFiles =>
        val taskNames = names(positions.extension)
        val groups = positions.granularity match {
          case DeleteGranularity.OfFile => files.map(f => Vector(f._2))
          case DeleteGranularity.OfPartition => files.groupBy(_._1).values.map(_.map(_._2)).toVector
        }
        TaskDeletes(groups.flatMap(writePositions(positions, _, taskNames, onCreate)).toArray, Array.empty)
    }
  }

  /**
   * Returns a message to the driver that contains the deletion vectors; absent if the vectors are too large for a
   * message.
   */
  private def messageOf(files: Vector[DeletedPositions], sentBytes: Long): Option[TaskDeletes] =
    if (files.iterator.map(_._2.heapBytes).sum > sentBytes) None
    else Some(TaskDeletes(Array.empty, files.map { case (path, p) => DeletionVectorMessage(path, p.toBytes) }.toArray))

  /**
   * Merges position delete files that several tasks have written for the same data files.
   *
   * @param written the deletes of the tasks, each with the metadata of its delete file
   */
  def mergePositionDeletes(
      form: DeleteForm.PositionFiles,
      written: Vector[(WrittenDeletes, ContentFile)],
      names: String => DataFileNames,
      onCreate: String => Unit
  ): Vector[WrittenDeletes] = {
    val reader = this.reader
    val files = written.flatMap(_._1.dataFiles).distinct.sorted.map { path =>
      val deletes =
        written.collect { case (w, file) if w.dataFiles.contains(path) => DeleteFile(file, 0L, Vector.empty) }
      (path, reader.of(path, deletes).positions)
    }
    writePositions(form, files, names(form.extension), onCreate)
  }

  /** The path of a data file, and the positions of its deleted rows. */
  private type DeletedPositions = (String, DeletionVector)

  private def newPath(names: DataFileNames, onCreate: String => Unit): String = {
    val path = locations.path(PartitionSpec.Unpartitioned, PartitionTuple.Empty, names.next())
    onCreate(path)
    path
  }

  private def writeVectors(
      files: Vector[DeletedPositions],
      names: DataFileNames,
      onCreate: String => Unit
  ): Array[WrittenDeletes] = {
    val deletedRows = files.map { case (path, positions) => DeletedRows(path, 0, PartitionTuple.Empty, positions) }
    DeletionVectorFiles.write(io, newPath(names, onCreate), deletedRows).map(WrittenDeletes.ofVector).toArray
  }

  /** Writes position delete files of one partition, one after the other. */
  private def writePositions(
      form: DeleteForm.PositionFiles,
      files: Vector[DeletedPositions],
      names: DataFileNames,
      onCreate: String => Unit
  ): Vector[WrittenDeletes] = {
    val writer = new PositionDeleteFiles(io, form.format, form.properties)
    writer.writeAll(() => newPath(names, onCreate), files.iterator, form.targetSize).map(WrittenDeletes.ofPositions)
  }
}
