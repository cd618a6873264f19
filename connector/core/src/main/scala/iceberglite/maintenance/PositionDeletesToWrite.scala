package iceberglite.maintenance

import iceberglite.data.PositionDeleteFiles
import iceberglite.puffin.{DeletedRows, DeletionVector, DeletionVectorFiles}
import iceberglite.scan.{FileScanTask, TableRows}
import iceberglite.scan.deletes.{DeleteCacheAccess, DeleteReader}
import iceberglite.spec.FormatVersion
import iceberglite.spec.file.{ContentFile, FileFormat}
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.partition.PartitionSpec
import iceberglite.spec.property.{DeleteFileProperties, RowLevelProperty}
import iceberglite.spec.schema.{MetadataColumns, NameMapping, Schema}
import iceberglite.spec.types.NestedField
import iceberglite.storage.FileIO
import iceberglite.table.Cleanup

/**
 * Writes positions of deleted rows to new delete files. The class is serializable, so that Spark tasks can write files.
 *
 * @param usesVectors whether to write deletion vectors and not position delete files
 * @param format format of position delete files
 * @param properties table properties for position delete files
 */
final case class PositionDeletesToWrite(
    io: FileIO,
    usesVectors: Boolean,
    format: FileFormat,
    properties: Map[String, String]
) {

  /** Returns the suffix of the names of the written files. */
  def extension: String = if (usesVectors) FileFormat.Puffin.extension else s"-deletes${format.extension}"

  /**
   * Writes a single file of deletion vectors, or a position delete file for each data file. Data files without deleted
   * rows are omitted. On failure, the written files are deleted.
   *
   * @param newPath returns a new path for each file
   */
  def write(deleted: Vector[DeletedRows], newPath: () => String): Vector[ContentFile] = {
    val nonEmpty = deleted.filterNot(_.positions.isEmpty)
    if (nonEmpty.isEmpty) Vector.empty
    else if (usesVectors) DeletionVectorFiles.write(io, newPath(), nonEmpty)
    else writePositions(nonEmpty, newPath)
  }

  private def writePositions(deleted: Vector[DeletedRows], newPath: () => String): Vector[ContentFile] = {
    val files = new PositionDeleteFiles(io, format, properties)
    val written = Vector.newBuilder[ContentFile]
    try {
      deleted.foreach { rows =>
        written ++= files.writeAll(newPath, Iterator((rows.dataFile, rows.positions)), Long.MaxValue)
          .map(_.contentFile(rows.specId, rows.partition))
      }
      written.result()
    } catch {
      case e: Throwable =>
        Cleanup.delete(io, written.result().map(_.path))
        throw e
    }
  }
}

object PositionDeletesToWrite {

  /**
   * Returns the writer for a version of a table. In format version 3 and later, position deletes are written as
   * deletion vectors.
   */
  def of(io: FileIO, table: TableMetadata): PositionDeletesToWrite = PositionDeletesToWrite(
    io,
    table.formatVersion >= FormatVersion.V3,
    RowLevelProperty.deleteFormat(table.properties),
    DeleteFileProperties.of(table.properties)
  )
}

/**
 * Finds the positions of the rows that delete files remove.
 *
 * @param schema schema of the table
 * @param cacheAccess cache of decoded delete files
 */
final private[maintenance] class ReadPositions(
    io: FileIO,
    specs: Map[Int, PartitionSpec],
    nameMapping: Option[NameMapping],
    schema: Schema,
    cacheAccess: DeleteCacheAccess
) {
  private val rows = new TableRows(io, specs, nameMapping, schema, ReadPositions.Columns, filtered = false, cacheAccess)
  private val deletes = new DeleteReader(io, specs, nameMapping, cacheAccess)

  /**
   * Returns the positions of the rows that the deletes of a task remove. The data file is read only if there are
   * equality deletes. In this case, only the columns that the equality deletes compare are read.
   */
  def deleted(task: FileScanTask): DeletionVector =
    if (task.deletes.exists(_.isEquality)) deletedByScan(task) else deletes.of(task.file.path, task.deletes).positions

  private def deletedByScan(task: FileScanTask): DeletionVector = {
    val builder = DeletionVector.newBuilder
    val all = rows.of(task)
    try all.foreach { row =>
        if (row(1).asInstanceOf[java.lang.Boolean]) builder += row(0).asInstanceOf[java.lang.Long].longValue
      }
    finally all.close()
    builder.result()
  }
}

private object ReadPositions {
  val Columns: Vector[NestedField] = Vector(MetadataColumns.Position, MetadataColumns.Deleted)
}
