package iceberglite.spark.rowlevel

import iceberglite.puffin.{DeletedRows, DeletionVectorFiles}
import iceberglite.scan.FileScanTask
import iceberglite.scan.deletes.DeleteFile
import iceberglite.spark.read.planning.StatementFiles
import iceberglite.spec.expr.Expression
import iceberglite.spec.file.{ContentFile, FileFormat}
import iceberglite.spec.partition.{PartitionSpec, PartitionTuple}
import iceberglite.spec.property.DeleteGranularity
import iceberglite.table.DataFileNames

/**
 * The delete files that a statement commits. The deletes of all tasks are merged, so that a data file has at most one
 * deletion vector.
 *
 * @param dataFiles the paths of the data files with deleted rows
 * @param replaced the paths of the tasks' delete files that are not committed, because their deletes were merged into
 *   other delete files
 */
final private[rowlevel] case class MergedDeletes(
    files: Vector[ContentFile],
    dataFiles: Set[String],
    replaced: Vector[String]
) {
  def isEmpty: Boolean = files.isEmpty

  /**
   * Returns the data files whose new deletes are in delete files that apply to several data files. The metadata of such
   * a delete file does not name the data files.
   */
  def unreferencedDataFiles: Set[String] = dataFiles -- files.flatMap(_.referencedDataFile)
}

/**
 * The data files whose rows a statement may change, with their existing deletes. This class is used only on the driver.
 *
 * @param readFiles returns the files that the statement reads; it is called after Spark has planned the scan
 */
final private[rowlevel] class ChangedFiles(statement: RowLevelStatement, readFiles: () => StatementFiles) {
  private lazy val files = readFiles()
  private lazy val tasks: Map[String, FileScanTask] = files.tasks.iterator.map(t => t.file.path -> t).toMap

  def filter: Expression = files.filter

  /**
   * Returns the existing position deletes of a data file that are merged with the data file's new deletes. Before
   * version 3, an existing delete file is merged only if it applies to no other data file, and if the statement writes
   * one delete file for each data file.
   */
  private def mergeableDeletes(task: FileScanTask): Vector[DeleteFile] = task.deletes.filter { d =>
    !d.isEquality &&
    (statement.hasVectors || d.file.referencedDataFile.contains(task.file.path) && writesFilePerDataFile)
  }

  private def writesFilePerDataFile: Boolean = statement.granularity == DeleteGranularity.OfFile

  /**
   * Returns the existing deletes that are merged with the new deletes of each data file, by the path of the data file.
   * The new delete file also contains these existing deletes.
   */
  def existingDeletes: Map[String, Vector[DeleteFile]] = tasks.flatMap { case (path, task) =>
    val deletes = mergeableDeletes(task)
    if (deletes.isEmpty) None else Some(path -> deletes.map(_.withoutMetrics))
  }

  /**
   * Returns the existing delete files that the commit removes, because the new delete files contain their deletes. A
   * removed delete file applies to one data file only.
   */
  def replacedDeletes(dataFiles: Set[String]): Vector[ContentFile] = for {
    path <- dataFiles.toVector.sorted
    delete <- mergeableDeletes(tasks(path))
    if delete.isVector || delete.file.referencedDataFile.contains(path)
  } yield delete.file

  /**
   * Returns the delete files to commit. If several tasks deleted rows of the same data file, their deletes are merged.
   */
  def mergedDeletes(
      written: Vector[TaskDeletes],
      target: DeleteFileTarget,
      operationId: String,
      onCreate: String => Unit
  ): MergedDeletes = {
    val files = written.flatMap(_.files).map(w => (w, w.contentFile(dataFile(w.dataFiles.head))))
    val sent = written.flatMap(_.vectors)
    val dataFiles = (files.flatMap(_._1.dataFiles) ++ sent.map(_.dataFile)).toSet
    val (entries, replaced) =
      target.form match {
        case DeleteForm.Vectors(_) => mergeVectors(files.map(_._2), sent, target, operationId, onCreate)
        case form: DeleteForm.PositionFiles => mergePositions(files, form, target, operationId, onCreate)
      }
    MergedDeletes(entries, dataFiles, replaced)
  }

  private def dataFile(path: String): ContentFile = tasks(path).file

  /**
   * Merges the deletion vectors of all tasks.
   *
   * @return the delete files to commit, and the paths of the tasks' delete files that are not committed
   */
  private def mergeVectors(
      written: Vector[ContentFile],
      sent: Vector[DeletionVectorMessage],
      target: DeleteFileTarget,
      operationId: String,
      onCreate: String => Unit
  ): (Vector[ContentFile], Vector[String]) = {
    val sentByDataFile = sent.groupBy(_.dataFile)
    val (kept, parts) = written.groupBy(_.referencedDataFile.mkString).partition { case (path, files) =>
      files.size == 1 && !sentByDataFile.contains(path)
    }
    val deletedRows = (sentByDataFile.keySet ++ parts.keySet).toVector.sorted.map { path =>
      val positions = sentByDataFile.getOrElse(path, Vector.empty).map(_.positions) ++
        parts.getOrElse(path, Vector.empty).map(DeletionVectorFiles.read(target.io, _))
      val file = dataFile(path)
      DeletedRows(path, file.specId, file.partition, positions.reduce(_ union _))
    }
    if (deletedRows.isEmpty) (written, Vector.empty)
    else {
      val name = s"$operationId-united-deletes${FileFormat.Puffin.extension}"
      val path = target.locations.path(PartitionSpec.Unpartitioned, PartitionTuple.Empty, name)
      onCreate(path)
      val files = written.filter(f => kept.contains(f.referencedDataFile.mkString))
      (files ++ DeletionVectorFiles.write(target.io, path, deletedRows), uncommittedPaths(written, files))
    }
  }

  /**
   * Merges position delete files of several tasks for the same data file or partition. Files that are together larger
   * than the target size are committed without merging, because the driver should not write many bytes.
   */
  private def mergePositions(
      written: Vector[(WrittenDeletes, ContentFile)],
      form: DeleteForm.PositionFiles,
      target: DeleteFileTarget,
      operationId: String,
      onCreate: String => Unit
  ): (Vector[ContentFile], Vector[String]) = {
    val groups = written.groupBy { case (w, file) =>
      form.granularity match {
        case DeleteGranularity.OfFile => w.dataFiles.head
        case DeleteGranularity.OfPartition => (file.specId, file.partition)
      }
    }.values.toVector
    val (small, kept) = groups.partition(g => g.size > 1 && g.map(_._2.fileSizeInBytes).sum <= form.targetSize)
    val groupNumbers = Iterator.from(0)
    val mergedFiles = small.flatMap { group =>
      val groupNumber = groupNumbers.next()
      val names = new DataFileNames(groupNumber, 0L, s"$operationId-united", _)
      target.mergePositionDeletes(form, group, names, onCreate)
    }
    val files = kept.flatten.map(_._2)
    val mergedEntries = mergedFiles.map(w => w.contentFile(dataFile(w.dataFiles.head)))
    (files ++ mergedEntries, uncommittedPaths(written.map(_._2), files))
  }

  private def uncommittedPaths(written: Vector[ContentFile], kept: Vector[ContentFile]): Vector[String] =
    written.map(_.path).distinct.filterNot(kept.map(_.path).toSet)
}
