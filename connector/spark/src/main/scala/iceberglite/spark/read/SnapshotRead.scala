package iceberglite.spark.read

import iceberglite.spark.read.planning.ScanFiles

/** A scan whose tasks open files of a snapshot. Such a query fails if the snapshot expires and a file is deleted. */
private[iceberglite] trait SnapshotRead {

  /** The table and the snapshot that the scan reads. */
  private[iceberglite] def scanFiles: ScanFiles
}
