package iceberglite.spec.file

/**
 * The metrics of a set of rows that a scan reads or skips as a whole. The set contains the rows of one file, or the
 * rows of all files in a part of a metadata tree.
 */
trait HasMetrics {

  /** Counts and bounds by column; [[Metrics.Empty]] if nothing is known. */
  def metrics: Metrics

  /** The number of rows; negative if it is unknown. */
  def recordCount: Long
}

/**
 * The summary of a part of a snapshot's metadata tree. The summary is known before the part is read. In versions 1 to
 * 3, a part is a manifest, and its summary is its entry in the manifest list (spec: "Manifest Lists").
 */
trait PartSummary extends HasMetrics {

  /** The metadata file that the part is read from, for messages. */
  def path: String

  /** Whether the part lists data files or delete files. */
  def content: ManifestContent

  /** The partition spec of all files that the part lists. */
  def specId: Int

  /** The length of the metadata file, in bytes. */
  def length: Long

  /** The number of live files; absent if it is unknown. */
  def liveFiles: Option[Long]

  /**
   * The sequence number of the commit that added the part; for files that a root manifest (version 4) lists itself,
   * their maximum data sequence number.
   */
  def sequenceNumber: Long

  /** A number that is at most the minimum data sequence number of the live files. */
  def minSequenceNumber: Long

  /** One summary for each partition field; absent if the metadata lacks them. */
  def partitions: Option[Vector[FieldSummary]]

  /**
   * Whether the metadata file has the layout of an earlier format version than the tree, so that a rewrite of manifests
   * replaces it even if no other part is rewritten.
   */
  def isOutdated: Boolean = false

  final def hasLiveFiles: Boolean = !liveFiles.contains(0L)
}
