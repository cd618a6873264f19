package iceberglite.spark.write.rows

import iceberglite.data.PositionDeleteFiles
import iceberglite.io.puffin.{DeletedRows, DeletionVector, DeletionVectorFiles}
import iceberglite.io.{DataFileNames, DataLocations, FileIO}
import iceberglite.scan.{DeleteFile, DeleteReader}
import iceberglite.spark.write.RowFaults
import iceberglite.spec.IcebergError.StorageFailed
import iceberglite.spec.{DeleteGranularity, FileFormat, PartitionSpec, PartitionTuple}

/**
 * Where and how the tasks of a statement write delete files. Serializable, for tasks.
 *
 * @param vectors whether deletes are deletion vectors: version 3
 * @param earlier the deletes of a data file that its new ones take in
 * @param table its name, for messages
 */
final private[rows] case class DeleteFileTarget(
    vectors: Boolean,
    granularity: DeleteGranularity,
    format: FileFormat,
    targetSize: Long,
    properties: Map[String, String],
    locations: DataLocations,
    io: FileIO,
    specs: Map[Int, PartitionSpec],
    earlier: Map[String, Vector[DeleteFile]],
    table: String
) {

  /** Writes what a task has deleted. @param names of files of the task without an extension */
  def write(deletes: PositionDeletes, names: String => DataFileNames, made: String => Unit): Array[WrittenDeletes] =
    try writeAll(deletes, names, made)
    catch { case failed: StorageFailed => throw RowFaults.ofTable(failed, table) }

  private def writeAll(
      deletes: PositionDeletes,
      names: String => DataFileNames,
      made: String => Unit
  ): Array[WrittenDeletes] = {
    // The names of the columns of position deletes are fixed.
    val reader = new DeleteReader(io, specs, nameMapping = None)
    val files = deletes.byPath.map { d =>
      val path = d.path.toString
      (d.group, (path, d.positions.union(reader.of(path, earlier.getOrElse(path, Vector.empty)).positions)))
    }
    if (files.isEmpty) Array.empty
    else if (vectors) writeVectors(files.map(_._2), names(FileFormat.Puffin.extension), made)
    else {
      val own = names(s"-deletes${format.extension}")
      val groups = granularity match {
        case DeleteGranularity.OfFile => files.map(f => Vector(f._2))
        case DeleteGranularity.OfPartition => files.groupBy(_._1).values.map(_.map(_._2)).toVector
      }
      groups.flatMap(writePositions(_, own, made)).toArray
    }
  }

  private type Deleted = (String, DeletionVector)

  private def newPath(names: DataFileNames, made: String => Unit): String = {
    val path = locations.path(PartitionSpec.Unpartitioned, PartitionTuple.Empty, names.next())
    made(path)
    path
  }

  private def writeVectors(
      files: Vector[Deleted],
      names: DataFileNames,
      made: String => Unit
  ): Array[WrittenDeletes] = {
    val rows = files.map { case (path, positions) => DeletedRows(path, 0, PartitionTuple.Empty, positions) }
    DeletionVectorFiles.write(io, newPath(names, made), rows).map(WrittenDeletes.ofVector).toArray
  }

  /** Position delete files of one partition, one after the other. */
  private def writePositions(
      files: Vector[Deleted],
      names: DataFileNames,
      made: String => Unit
  ): Vector[WrittenDeletes] = {
    val writer = new PositionDeleteFiles(io, format, properties)
    val result = Vector.newBuilder[WrittenDeletes]
    var rest = files
    while (rest.nonEmpty) {
      val (file, done) = writer.write(newPath(names, made), rest, targetSize)
      result += WrittenDeletes.ofPositions(file, rest.take(done).map(_._1))
      rest = rest.drop(done)
    }
    result.result()
  }
}
