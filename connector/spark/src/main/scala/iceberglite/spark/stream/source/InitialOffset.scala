package iceberglite.spark.stream.source

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import iceberglite.scan.stream.StreamOffset

/**
 * The file in the checkpoint that contains the first offset of a query. Spark requests this offset again if the first
 * micro-batch did not succeed. The file has the same name as in Apache Iceberg, so a query that Apache Iceberg began
 * can be continued.
 *
 * @param checkpoint the directory in which Spark stores the metadata of the source
 */
final private[source] class InitialOffset(checkpoint: String, conf: Configuration) {

  /** The checkpoint of the query, which contains the numbered directories of its sources in a directory `sources`. */
  val query: String = {
    val source = new Path(checkpoint)
    Option(source.getParent).filter(_.getName == "sources").flatMap(sources => Option(sources.getParent))
      .getOrElse(source).toString
  }

  private val file = new CheckpointFile(new Path(new Path(checkpoint, "offsets"), "0"), conf)

  /**
   * Returns the offset in the file. If there is no file, writes the given offset.
   *
   * @throws iceberglite.spec.IcebergError.StorageFailed if the file cannot be read or written
   * @throws iceberglite.spec.IcebergError.InvalidMetadata if the file does not contain a supported offset
   */
  def getOrWrite(offset: => StreamOffset): StreamOffset = file.read().map(StreamOffset.parse).getOrElse {
    val first = offset
    file.write(StreamOffset.toJson(first), replaces = false)
    first
  }
}
