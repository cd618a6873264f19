package iceberglite.data

import iceberglite.metrics.MetricsModes
import iceberglite.puffin.DeletionVector
import iceberglite.spec.file.{ContentFile, FileFormat}
import iceberglite.spec.partition.PartitionTuple
import iceberglite.spec.schema.{MappedField, MetadataColumns, NameMapping, Schema}
import iceberglite.spec.types.Type.StructType
import iceberglite.storage.FileIO

/**
 * Writes position delete files without the optional column `row` (spec: "Position Delete Files").
 *
 * @param properties properties of the files, with the keys of table properties
 */
final class PositionDeleteFiles(io: FileIO, format: FileFormat, properties: Map[String, String]) {
  import PositionDeleteFiles._

  /**
   * Writes all deletes to one or more files, one file after the other. If a write fails, the incomplete file is
   * deleted, and the complete files remain.
   *
   * @param newPath returns a new path for each file
   * @param deleted paths of data files in ascending order with the positions of their deleted rows
   * @param targetSize file size in bytes. Once a file has this size, the deletes of the next data file are written to a
   *   new file
   */
  def writeAll(
      newPath: () => String,
      deleted: Iterator[(String, DeletionVector)],
      targetSize: Long
  ): Vector[WrittenPositionDeletes] = {
    val written = Vector.newBuilder[WrittenPositionDeletes]
    while (deleted.hasNext) written += write(newPath(), deleted, targetSize)
    written.result()
  }

  /**
   * Writes one file with the next deletes. If the write fails, the incomplete file is deleted.
   *
   * @param deleted the deletes that are not written yet, for at least one data file. The iterator is advanced past the
   *   deletes that this file contains
   */
  private def write(
      path: String,
      deleted: Iterator[(String, DeletionVector)],
      targetSize: Long
  ): WrittenPositionDeletes = {
    val writer = DataFormats.of(format).write(DataTarget(io, path, Columns, properties, Modes))
    try {
      val dataFiles = Vector.newBuilder[String]
      do {
        val (dataFile, positions) = deleted.next()
        positions.foreach(p => writer.write(Record.of(dataFile, p)))
        dataFiles += dataFile
      } while (deleted.hasNext && writer.length < targetSize)
      WrittenPositionDeletes(writer.close(), dataFiles.result())
    } catch {
      case e: Throwable =>
        writer.abort()
        throw e
    }
  }

  /**
   * Writes a copy of a position delete file in which the data files have other paths. The column `row` is not copied.
   *
   * @param length the length of the original file in bytes
   * @param newPath returns the new path of a data file. The new paths must have the same order as the original paths
   */
  def copy(original: String, length: Long, path: String)(newPath: String => String): WrittenFile = {
    val rows = DataFormats.of(format).read(DataSource(io, original, length, Some(Names)), Struct)
    try {
      val writer = DataFormats.of(format).write(DataTarget(io, path, Columns, properties, Modes))
      try {
        var last = ""
        var lastNew = ""
        rows.foreach { row =>
          val dataFile = row(0).asInstanceOf[String]
          // The rows are sorted by path, so most rows have the same path as the previous row.
          if (dataFile != last) {
            lastNew = newPath(dataFile)
            last = dataFile
          }
          writer.write(Record.of(lastNew, row(1)))
        }
        writer.close()
      } catch {
        case e: Throwable =>
          writer.abort()
          throw e
      }
    } finally rows.close()
  }
}

/**
 * A position delete file that was written.
 *
 * @param dataFiles the paths of the data files whose rows the file deletes
 */
final case class WrittenPositionDeletes(file: WrittenFile, dataFiles: Vector[String]) {

  /**
   * Returns the metadata of the delete file. The arguments are the partition spec id and the partition of the data
   * files.
   */
  def contentFile(specId: Int, partition: PartitionTuple): ContentFile =
    file.positionDeletes(specId, partition, if (dataFiles.size == 1) dataFiles.headOption else None)
}

object PositionDeleteFiles {

  /** The columns path and position, in this order. */
  val Struct: StructType = StructType(Vector(MetadataColumns.DeleteFilePath, MetadataColumns.DeletePosition))

  /**
   * The name mapping for files without field ids. Such files can be read because the specification defines the names of
   * the columns.
   */
  val Names: NameMapping =
    NameMapping(Struct.fields.map(f => MappedField(Vector(f.name), Some(f.id), Vector.empty)))

  private val Columns: Schema = Schema(0, Struct.fields)
  private val Modes: MetricsModes = MetricsModes.ofPositionDeletes(MetricsModes(Map.empty))
}
