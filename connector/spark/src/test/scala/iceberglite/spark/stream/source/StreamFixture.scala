package iceberglite.spark.stream.source

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.streaming.{StreamingQueryException, Trigger}
import org.scalatest.Suite

import iceberglite.spark.SharedSession
import iceberglite.spark.error.Causes

/** Runs streaming queries until they have read all available rows. */
trait StreamFixture extends SharedSession { self: Suite =>

  /** Returns a new checkpoint location. */
  protected def newCheckpoint(): String = newDirectory("checkpoint").toUri.toString

  /** Returns a streaming read with options. */
  protected def stream(table: String, options: (String, String)*): DataFrame =
    spark.readStream.options(options.toMap).table(table)

  /**
   * Returns the rows of each batch as sorted text.
   *
   * @param failAt the number of the batch that fails in the sink
   */
  protected def batches(
      stream: DataFrame,
      checkpoint: String = newCheckpoint(),
      trigger: Trigger = Trigger.AvailableNow,
      failAt: Option[Long] = None
  ): Vector[Vector[String]] = {
    val read = Vector.newBuilder[Vector[String]]
    val collect: (DataFrame, Long) => Unit = { (batch, id) =>
      if (failAt.contains(id)) throw new StreamFixture.SinkFailed
      read += batch.collect().map(_.toString).sorted.toVector
    }
    val query =
      stream.writeStream.foreachBatch(collect).option("checkpointLocation", checkpoint).trigger(trigger).start()
    try query.awaitTermination()
    catch { case e: StreamingQueryException if Causes.of(e).exists(_.isInstanceOf[StreamFixture.SinkFailed]) => () }
    read.result()
  }

  /** Returns all rows that a query reads as sorted text. */
  protected def read(stream: DataFrame, checkpoint: String = newCheckpoint()): Vector[String] =
    batches(stream, checkpoint).flatten.sorted

  /** Returns the message of the error with which a query fails. */
  protected def failure(stream: => DataFrame, checkpoint: String = newCheckpoint()): String =
    intercept[Exception](batches(stream, checkpoint)).getMessage

  /** Creates a table and appends the numbers of each range, as one file per commit. */
  protected def numbers(ranges: Range*): String = {
    val table = newTable()
    sql(s"CREATE TABLE $table (id BIGINT, name STRING) USING iceberg TBLPROPERTIES ('format-version' = '2')")
    ranges.foreach(append(table, _))
    table
  }

  /** Appends rows as one file. */
  protected def append(table: String, ids: Range): Unit = {
    sql(s"INSERT INTO $table SELECT id, concat('n', id) FROM range(${ids.start}, ${ids.end}, 1, 1)")
    ()
  }

  protected def texts(ids: Seq[Int]): Vector[String] = ids.map(id => s"[$id,n$id]").sorted.toVector
}

object StreamFixture {

  /** The failure of a sink. */
  final class SinkFailed extends RuntimeException("The sink fails")
}
