package iceberglite.spark.read

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream

import iceberglite.scan.ScanReport

/** A stream of micro-batches with the columns of a scan. */
private[iceberglite] trait ScanStream extends MicroBatchStream {

  /** Returns the scan report of the batch that was planned last. */
  def lastBatch: ScanReport

  /**
   * Returns the number of rows of the batch that Spark optimizes now. Absent if the number is unknown: after a restart,
   * Spark optimizes the plan of the first batch before the stream plans its files, and some delete files must be read
   * to count the rows that they delete.
   */
  def plannedRows: Option[Long]

  /**
   * Makes [[plannedRows]] unknown. This is necessary if operators of the query return rows of earlier batches, because
   * Spark would derive the number of the rows of these operators from the number of rows of the current batch.
   */
  def omitRowCounts(): Unit

  /**
   * How the rows of a micro-batch are computed from the rows that the stream reads; absent if no computation is
   * necessary. Spark computes the rows only in sessions with the SQL extensions.
   */
  def changeView: Option[ChangeView]

  /** Describes the stream and the last batch for EXPLAIN. */
  def description: String
}

/** The changes that a stream returns for the rows that commits deleted and inserted. */
private[iceberglite] trait ChangeView {

  /** Returns the changes of a micro-batch, with the same columns. @param changes the rows of its commits */
  def rows(changes: DataFrame): DataFrame
}

/** Creates the stream of a scan. */
private[iceberglite] trait StreamSource {

  /** @param checkpoint the directory in which Spark stores the metadata of the source */
  def streamOf(scan: IcebergScan, checkpoint: String): ScanStream

  /**
   * Rejects the options that only streams have, when the scan is read as a batch.
   *
   * @throws iceberglite.spec.IcebergError.Unsupported if such an option is set and would be ignored
   */
  def rejectForBatch(): Unit
}
