package iceberglite.spark.read

import iceberglite.spark.read.planning.ScanFiles

/**
 * A scan whose tasks open files of a snapshot. If the snapshot expires during the query and one of its files is
 * deleted, the query fails.
 */
private[iceberglite] trait SnapshotRead {

  /** The table and the snapshot that the scan reads. */
  private[iceberglite] def scanFiles: ScanFiles
}
