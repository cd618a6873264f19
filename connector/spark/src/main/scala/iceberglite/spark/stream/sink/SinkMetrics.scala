package iceberglite.spark.stream.sink

import java.util
import java.util.concurrent.atomic.AtomicReference

import scala.collection.JavaConverters._

import iceberglite.spec.file.{Content, ContentFile}

/** The metrics of the newest micro-batch, which Spark reports in the progress of the query. */
final private[iceberglite] class SinkMetrics {
  private val newest = new AtomicReference(Map.empty[String, String])

  /** Replaces the metrics. @param added the files that the micro-batch has added to the table */
  def record(added: Vector[ContentFile]): Unit = {
    val (rows, deletes) = added.partition(_.content == Content.Data)
    newest.set(Map(
      SinkMetrics.DataFiles -> rows.size.toString,
      SinkMetrics.DeleteFiles -> deletes.size.toString,
      SinkMetrics.Rows -> rows.map(_.recordCountOrZero).sum.toString,
      SinkMetrics.Bytes -> added.map(_.fileSizeInBytes).sum.toString
    ))
  }

  /**
   * Returns the metrics of the newest micro-batch since the last call; empty if there is none, as in the progress of an
   * idle query.
   */
  def take(): util.Map[String, String] = newest.getAndSet(Map.empty).asJava
}

private object SinkMetrics {
  val DataFiles = "addedDataFiles"
  val DeleteFiles = "addedDeleteFiles"
  val Rows = "addedRecords"
  val Bytes = "addedFileSizeInBytes"
}
