package iceberglite.data

import iceberglite.metrics.MetricsModes
import iceberglite.puffin.DeletionVector
import iceberglite.spec.file.FileFormat
import iceberglite.spec.schema.{MetadataColumns, Schema}
import iceberglite.storage.FileIO

/**
 * Writes position delete files without the optional column `row` (spec: "Position Delete Files").
 *
 * @param properties properties of the files, with the keys of table properties
 */
final class PositionDeleteFiles(io: FileIO, format: FileFormat, properties: Map[String, String]) {
  import PositionDeleteFiles._

  /**
   * Writes one file. If that fails, the incomplete file is deleted.
   *
   * @param deleted paths of data files in ascending order with the positions of their deleted rows; not empty
   * @param targetSize file size in bytes. Once the file has this size, the deletes of no further data file are added
   * @return the file, and the number of entries of `deleted` that the file contains, which is at least one
   */
  def write(path: String, deleted: Vector[(String, DeletionVector)], targetSize: Long): (WrittenFile, Int) = {
    val writer = DataFormats.of(format).write(DataTarget(io, path, Columns, properties, Modes))
    try {
      var coveredFiles = 0
      while (coveredFiles < deleted.size && (coveredFiles == 0 || writer.length < targetSize)) {
        val (dataFile, positions) = deleted(coveredFiles)
        positions.foreach(p => writer.write(Record.of(dataFile, p)))
        coveredFiles += 1
      }
      (writer.close(), coveredFiles)
    } catch {
      case e: Throwable =>
        writer.abort()
        throw e
    }
  }
}

object PositionDeleteFiles {
  private val Columns: Schema = Schema(0, Vector(MetadataColumns.DeleteFilePath, MetadataColumns.DeletePosition))
  private val Modes: MetricsModes = MetricsModes.ofPositionDeletes(MetricsModes(Map.empty))
}
