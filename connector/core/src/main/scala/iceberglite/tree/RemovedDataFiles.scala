package iceberglite.tree

import iceberglite.spec.file.{Content, ManifestEntry}

/**
 * The data files that a commit removes, used to find the delete files to remove with them.
 *
 * @param oldest the lowest data sequence number of the remaining data files
 */
final private[tree] class RemovedDataFiles(paths: Set[String], oldest: Long) {
  def isEmpty: Boolean = paths.isEmpty

  /**
   * Returns whether a live delete file can be removed. This is the case if it references one of these data files (spec
   * version 3: `referenced_data_file`), or if its data sequence number is lower than those of all remaining data files.
   */
  def makesObsolete(e: ManifestEntry): Boolean = !isEmpty && e.file.content != Content.Data &&
    (e.file.referencedDataFile.exists(paths) || e.sequenceNumber.exists(_ < oldest))
}

private[tree] object RemovedDataFiles {
  val Empty = new RemovedDataFiles(Set.empty, 0L)
}
