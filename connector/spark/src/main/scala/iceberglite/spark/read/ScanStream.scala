package iceberglite.spark.read

import org.apache.spark.sql.connector.read.streaming.MicroBatchStream

import iceberglite.scan.ScanReport

/** A stream of micro-batches with the columns of a scan. */
private[iceberglite] trait ScanStream extends MicroBatchStream {

  /** Returns statistics about the batch that was planned last, whose files are in the report. */
  def lastBatch: ScanReport

  /** Describes the stream and the last batch for EXPLAIN. */
  def description: String
}

/** Creates the stream of a scan. */
private[iceberglite] trait StreamSource {

  /** @param checkpoint the directory in which Spark stores the metadata of the source */
  def streamOf(scan: IcebergScan, checkpoint: String): ScanStream
}
