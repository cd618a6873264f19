package iceberglite.spark.stream.source

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.catalyst.streaming.StreamingRelationV2
import org.apache.spark.sql.connector.catalog.{Identifier, SupportsRead}
import org.apache.spark.sql.streaming.{StreamingQueryException, Trigger}
import org.scalatest.Suite

import iceberglite.spark.SharedSession
import iceberglite.spark.error.Causes
import iceberglite.spark.read.IcebergScan
import iceberglite.spark.session.LiteCatalog
import iceberglite.table.Table

/** Helpers for tests of streaming reads: tables, and queries that run until they have read all available rows. */
private[source] trait SourceFixture extends SharedSession { self: Suite =>

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
  ): Vector[Vector[String]] = rowsOfBatches(stream, checkpoint, trigger, failAt).map(_.map(_.toString).sorted)

  /** Returns the rows of each batch. The parameters are those of [[batches]]. */
  protected def rowsOfBatches(
      stream: DataFrame,
      checkpoint: String,
      trigger: Trigger = Trigger.AvailableNow,
      failAt: Option[Long] = None
  ): Vector[Vector[Row]] = {
    val read = Vector.newBuilder[Vector[Row]]
    val collect: (DataFrame, Long) => Unit = { (batch, id) =>
      if (failAt.contains(id)) throw new SourceFixture.SinkFailed
      read += batch.collect().toVector
    }
    val query =
      stream.writeStream.foreachBatch(collect).option("checkpointLocation", checkpoint).trigger(trigger).start()
    try query.awaitTermination()
    catch { case e: StreamingQueryException if Causes.of(e).exists(_.isInstanceOf[SourceFixture.SinkFailed]) => () }
    read.result()
  }

  /** Returns all rows that a query reads as sorted text. */
  protected def read(stream: DataFrame, checkpoint: String = newCheckpoint()): Vector[String] =
    batches(stream, checkpoint).flatten.sorted

  /** Returns the message of the error with which a query fails. */
  protected def failure(stream: => DataFrame, checkpoint: String = newCheckpoint()): String =
    intercept[Exception](batches(stream, checkpoint)).getMessage

  /** Returns the scan of a streaming query that has not started. */
  protected def scanOf(t: String, options: (String, String)*): IcebergScan = {
    val relation = stream(t, options: _*).queryExecution.analyzed.collectFirst { case r: StreamingRelationV2 => r }
    relation.map(r => r.table -> r.extraOptions) match {
      case Some((table: SupportsRead, all)) => table.newScanBuilder(all).build() match {
          case scan: IcebergScan => scan
          case other => fail(s"$other is not the scan of a table")
        }
      case other => fail(s"$other is not a relation that can be read")
    }
  }

  /** Returns the source of a streaming query that has not started. */
  protected def streamOf(scan: IcebergScan, checkpoint: String = newCheckpoint()): IcebergStream =
    scan.toMicroBatchStream(checkpoint) match {
      case stream: IcebergStream => stream
      case other => fail(s"$other is not the stream of a table")
    }

  protected def sourceOf(t: String, options: (String, String)*): IcebergStream = streamOf(scanOf(t, options: _*))

  /** Returns the table object that the catalog shares with queries, with its current metadata. */
  protected def coreTable(t: String): Table = {
    val Array(catalog, namespace, name) = t.split('.')
    spark.sessionState.catalogManager.catalog(catalog) match {
      case lite: LiteCatalog => lite.sharedTable(Identifier.of(Array(namespace), name)).current
      case other => fail(s"$other is not an iceberg-lite catalog")
    }
  }

  /** Creates a table and appends the numbers of each range, as one file per commit. */
  protected def numbers(ranges: Range*): String = {
    val table = newTable()
    sql(s"CREATE TABLE $table (id BIGINT, name STRING) USING iceberg TBLPROPERTIES ('format-version' = '2')")
    ranges.foreach(append(table, _))
    table
  }

  /** Creates a table of version 3 by two appends and a DELETE. @param mode the mode of all row-level statements */
  protected def withDeletedRow(mode: String): String = {
    val t = newTable()
    val modes = Seq("delete", "update", "merge").map(s => s"'write.$s.mode' = '$mode'").mkString(", ")
    sql(s"CREATE TABLE $t (id BIGINT, name STRING) USING iceberg TBLPROPERTIES ('format-version' = '3', $modes)")
    append(t, 0 until 5)
    append(t, 5 until 8)
    sql(s"DELETE FROM $t WHERE id = 2")
    t
  }

  protected def compact(t: String): Unit = {
    sql(
      s"CALL lite.system.rewrite_data_files(table => '${t.stripPrefix("lite.")}', " +
        "options => map('rewrite-all', 'true'))"
    )
    ()
  }

  /** Appends rows as one file. */
  protected def append(table: String, ids: Range): Unit = {
    sql(s"INSERT INTO $table SELECT id, concat('n', id) FROM range(${ids.start}, ${ids.end}, 1, 1)")
    ()
  }

  protected def texts(ids: Seq[Int]): Vector[String] = ids.map(id => s"[$id,n$id]").sorted.toVector
}

object SourceFixture {

  /** The failure of a sink. */
  final class SinkFailed extends RuntimeException("The sink fails")
}
