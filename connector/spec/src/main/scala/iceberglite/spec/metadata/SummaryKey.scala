package iceberglite.spec.metadata

/**
 * Keys of a snapshot summary, which are defined by the specification (spec: "Optional Snapshot Summary Fields"), by
 * Apache Iceberg or by iceberg-lite.
 */
object SummaryKey {
  val AddedDataFiles = "added-data-files"
  val DeletedDataFiles = "deleted-data-files"
  val AddedDeleteFiles = "added-delete-files"
  val RemovedDeleteFiles = "removed-delete-files"
  val AddedPositionDeleteFiles = "added-position-delete-files"
  val RemovedPositionDeleteFiles = "removed-position-delete-files"
  val AddedEqualityDeleteFiles = "added-equality-delete-files"
  val RemovedEqualityDeleteFiles = "removed-equality-delete-files"
  val AddedDeletionVectors = "added-dvs"
  val RemovedDeletionVectors = "removed-dvs"
  val AddedRecords = "added-records"
  val DeletedRecords = "deleted-records"
  val AddedFilesSize = "added-files-size"
  val RemovedFilesSize = "removed-files-size"
  val AddedPositionDeletes = "added-position-deletes"
  val RemovedPositionDeletes = "removed-position-deletes"
  val AddedEqualityDeletes = "added-equality-deletes"
  val RemovedEqualityDeletes = "removed-equality-deletes"
  val ChangedPartitionCount = "changed-partition-count"
  val PartitionSummariesIncluded = "partition-summaries-included"
  val PartitionPrefix = "partitions."
  val ReplacePartitions = "replace-partitions"
  val SourceSnapshotId = "source-snapshot-id"

  /** The length of the root manifest (version 4) in bytes. */
  val RootLength = "root-manifest-length"

  /** The number of deletion vectors of leaf manifests (version 4) that the snapshot added. */
  val AddedManifestVectors = "added-manifest-dvs"

  /**
   * The number of deletion vectors of leaf manifests (version 4) that the snapshot dropped, because it rewrote the
   * manifests without the removed entries.
   */
  val FoldedManifestVectors = "folded-manifest-dvs"

  /**
   * The key of the clustering columns. The value contains the field ids of these columns, such as `1,2`. In each
   * partition, the data files that the snapshot added are clustered by these columns along a Hilbert curve.
   */
  val ClusteredBy = "iceberg-lite.clustered-by"

  /** The key in the summary of a staged snapshot. The value is the write-audit-publish id of the snapshot. */
  val WapId = "wap.id"

  /**
   * The key in the summary of a snapshot that publishes a staged snapshot. The value is the write-audit-publish id of
   * the staged snapshot.
   */
  val PublishedWapId = "published-wap-id"

  val TotalRecords = "total-records"
  val TotalFilesSize = "total-files-size"
  val TotalDataFiles = "total-data-files"
  val TotalDeleteFiles = "total-delete-files"
  val TotalPositionDeletes = "total-position-deletes"
  val TotalEqualityDeletes = "total-equality-deletes"
}
