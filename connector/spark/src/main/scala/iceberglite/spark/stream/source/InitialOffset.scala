package iceberglite.spark.stream.source

import java.io.IOException
import java.nio.charset.StandardCharsets.UTF_8

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.execution.streaming.CheckpointFileManager

import iceberglite.scan.stream.StreamOffset
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

  private val file = new Path(new Path(checkpoint, "offsets"), "0")

  /**
   * Returns the offset in the file. If there is no file, writes the given offset.
   *
   * @throws StorageFailed if the file cannot be read or written
   * @throws iceberglite.spec.IcebergError.InvalidMetadata if the file does not contain a supported offset
   */
  def getOrWrite(offset: => StreamOffset): StreamOffset = {
    val files = CheckpointFileManager.create(file.getParent, conf)
    if (access("read")(files.exists(file))) StreamOffset.parse(access("read")(read(files)))
    else {
      val first = offset
      access("write")(write(files, StreamOffset.toJson(first)))
      first
    }
  }

  private def read(files: CheckpointFileManager): String = {
    val in = files.open(file)
    try new String(in.readAllBytes(), UTF_8)
    finally in.close()
  }

  private def write(files: CheckpointFileManager, json: String): Unit = {
    files.mkdirs(file.getParent)
    val out = files.createAtomic(file, overwriteIfPossible = false)
    try {
      out.write(json.getBytes(UTF_8))
      out.close()
    } catch {
      case e: IOException =>
        out.cancel()
        throw e
    }
  }

  private def access[A](operation: String)(body: => A): A =
    try body
    catch { case e: IOException => throw StorageFailed.at(operation, file.toString, e.toString, Some(e)) }
}
