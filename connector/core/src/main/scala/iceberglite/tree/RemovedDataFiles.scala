package iceberglite.tree

import iceberglite.spec.file.{Content, ManifestEntry}

/**
 * The data files that a commit removes, used to find the delete files to remove with them.
 *
 * @param oldest the lowest data sequence number of the data files that stay
 */
final private[tree] class RemovedDataFiles(paths: Set[String], oldest: Long) {
  def isEmpty: Boolean = paths.isEmpty

  /**
   * Returns whether a live delete file can be removed. It can if it references one of these data files (adopted version
   * 3: `referenced_data_file`), or if it is older than all data files that stay.
   */
  def makesObsolete(e: ManifestEntry): Boolean = !isEmpty && e.file.content != Content.Data &&
    (e.file.referencedDataFile.exists(paths) || e.sequenceNumber.exists(_ < oldest))
}

private[tree] object RemovedDataFiles {
  val Empty = new RemovedDataFiles(Set.empty, 0L)
}
