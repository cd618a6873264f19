package iceberglite.spark.read

import org.apache.hadoop.conf.Configuration

import iceberglite.spark.read.avro.AvroBatches
import iceberglite.spark.read.formats.BatchFormat
import iceberglite.spark.read.orc.OrcBatches
import iceberglite.spark.read.parquet.{ParquetBatches, ParquetFiles}
import iceberglite.spec.IcebergError.Unsupported
import iceberglite.spec.file.FileFormat

/** The readers of the data files of one Spark task. */
final private[read] class BatchFormats(conf: Configuration) {

  /** The supported formats of data files. */
  private val all: Seq[BatchFormat] = Seq(new ParquetFiles(conf), OrcBatches, AvroBatches)

  /**
   * Returns the reader for the given file format.
   *
   * @param path the path of the file, for messages
   * @throws Unsupported if there is no reader for the format
   */
  def of(format: FileFormat, path: String): BatchFormat = all.find(_.format == format).getOrElse(
    throw Unsupported(
      s"data file $path in format ${format.name}",
      s"The supported formats of data files are ${all.map(_.format.name).mkString(", ")}"
    )
  )
}

private[read] object BatchFormats {

  /** Adds the settings of the readers of all formats to a configuration, and returns it. Called once for each scan. */
  def prepare(base: Configuration): Configuration = ParquetBatches.prepare(base)
}
