package iceberglite.data

import iceberglite.metrics.MetricsModes
import iceberglite.puffin.DeletionVector
import iceberglite.spec.file.FileFormat
import iceberglite.spec.schema.{MetadataColumns, Schema}
import iceberglite.storage.FileIO

/**
 * Writes position delete files without the optional column of deleted rows (spec: "Position Delete Files").
 *
 * @param properties properties of the files, with the keys of table properties
 */
final class PositionDeleteFiles(io: FileIO, format: FileFormat, properties: Map[String, String]) {
  import PositionDeleteFiles._

  /**
   * Writes one file. If that fails, the incomplete file is deleted.
   *
   * @param deleted paths of data files in ascending order with the positions of their deleted rows; not empty
   * @param targetSize file size in bytes after which no further data file is started
   * @return the file, and the number of data files that it covers; at least one
   */
  def write(path: String, deleted: Vector[(String, DeletionVector)], targetSize: Long): (WrittenFile, Int) = {
    val writer = DataFormats.of(format).write(DataTarget(io, path, Columns, properties, Modes))
    try {
      var covered = 0
      while (covered < deleted.size && (covered == 0 || writer.length < targetSize)) {
        val (dataFile, positions) = deleted(covered)
        positions.foreach(p => writer.write(Record.of(dataFile, p)))
        covered += 1
      }
      (writer.close(), covered)
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
