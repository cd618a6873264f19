package iceberglite.spark.stream.source

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.execution.streaming.StreamMetadata

import iceberglite.scan.stream.{StreamOffset, TrackedSchema}
import iceberglite.spec.IcebergError.StorageFailed

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

  /** The id of the query, or the checkpoint if it does not contain the id, and the number of the source. */
  def reader: TrackedSchema.Reader = {
    val id = StreamMetadata.read(new Path(query, "metadata"), conf).map(_.id)
    TrackedSchema.Reader(id.getOrElse(query), Some(new Path(checkpoint).getName).filter(_ => query != checkpoint))
  }

  private val file = new CheckpointFile(new Path(new Path(checkpoint, "offsets"), "0"), conf)

  /**
   * Returns the offset in the file. If there is no file, writes the given offset.
   *
   * @throws StorageFailed if the file cannot be read or written
   * @throws iceberglite.spec.IcebergError.InvalidMetadata if the file does not contain a supported offset
   */
  def getOrWrite(offset: => StreamOffset): StreamOffset = file.read().map(StreamOffset.parse).getOrElse {
    val first = offset
    if (!file.create(StreamOffset.toJson(first)))
      throw StorageFailed.at("create", file.toString, "Another run of the query has created the file")
    first
  }
}
