package iceberglite.spark.write.rows

import iceberglite.io.puffin.{DeletedRows, DeletionVectorFiles}
import iceberglite.io.{DataLocations, FileIO}
import iceberglite.scan.{DeleteFile, FileScanTask}
import iceberglite.spark.read.rows.StatementFiles
import iceberglite.spec.{ContentFile, DeleteGranularity, FileFormat, PartitionSpec, PartitionTuple}
import iceberglite.spec.expr.Expression

/**
 * The delete files of a statement, one deletion vector for each data file.
 *
 * @param dataFiles of whose rows they speak
 * @param replaced files of tasks in which nothing is left that counts
 */
final private[rows] case class UnitedDeletes(
    files: Vector[ContentFile],
    dataFiles: Set[String],
    replaced: Vector[String]
) {
  def isEmpty: Boolean = files.isEmpty

  /** The data files of delete files that speak of several, and so do not name them. */
  def unnamed: Set[String] = dataFiles -- files.flatMap(_.referencedDataFile)
}

/**
 * The data files whose rows a statement may change, on the driver.
 *
 * @param read known when Spark has planned the reading
 */
final private[rows] class ChangedFiles(statement: RowLevelStatement, read: () => StatementFiles) {
  private lazy val files = read()
  private lazy val tasks: Map[String, FileScanTask] = files.tasks.iterator.map(t => t.file.path -> t).toMap

  def filter: Expression = files.filter

  /** The deletes of single data files, and for deletion vectors all that name positions. */
  private def taken(task: FileScanTask): Vector[DeleteFile] = task.deletes.filter { d =>
    !d.isEquality && (statement.hasVectors || d.file.referencedDataFile.contains(task.file.path) && ofFiles)
  }

  private def ofFiles: Boolean = statement.granularity == DeleteGranularity.OfFile

  /** The deletes that data files have and that their new ones take in, so that a data file has one delete file. */
  def earlier: Map[String, Vector[DeleteFile]] = tasks.flatMap { case (path, task) =>
    val deletes = taken(task)
    if (deletes.isEmpty) None else Some(path -> deletes.map(_.withoutMetrics))
  }

  /** Those of these data files that speak of no other. */
  def takenIn(dataFiles: Set[String]): Vector[ContentFile] = for {
    path <- dataFiles.toVector.sorted
    delete <- taken(tasks(path))
    if delete.isVector || delete.file.referencedDataFile.contains(path)
  } yield delete.file

  /** What tasks have written. Where several have deleted rows of one data file, their vectors become one. */
  def united(
      written: Vector[WrittenDeletes],
      io: FileIO,
      locations: DataLocations,
      operationId: String
  ): UnitedDeletes = {
    val entries = written.map(w => w.contentFile(tasks(w.dataFiles.head).file))
    val dataFiles = written.flatMap(_.dataFiles).toSet
    val several = entries.filter(_.isDeletionVector).groupBy(_.referencedDataFile).values.filter(_.size > 1).toVector
    if (several.isEmpty) UnitedDeletes(entries, dataFiles, Vector.empty)
    else {
      val rows = several.map { parts =>
        val positions = parts.map(DeletionVectorFiles.read(io, _)).reduce(_ union _)
        DeletedRows(parts.head.referencedDataFile.mkString, parts.head.specId, parts.head.partition, positions)
      }
      val name = s"$operationId-united-deletes${FileFormat.Puffin.extension}"
      val path = locations.path(PartitionSpec.Unpartitioned, PartitionTuple.Empty, name)
      val obsolete = several.flatten.toSet
      val kept = entries.filterNot(obsolete)
      val files = kept ++ DeletionVectorFiles.write(io, path, rows)
      UnitedDeletes(files, dataFiles, entries.map(_.path).distinct.filterNot(kept.map(_.path).toSet))
    }
  }
}
