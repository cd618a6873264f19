package iceberglite.tree

import iceberglite.spec.file.{Content, ManifestEntry}

/**
 * The data files that a commit removes. They determine which delete files become obsolete and are also removed.
 *
 * @param oldest a number that is not higher than the data sequence number of any remaining data file
 */
final private[tree] class RemovedDataFiles(paths: Set[String], oldest: Long) {
  def isEmpty: Boolean = paths.isEmpty

  /**
   * Returns whether a live delete file becomes obsolete. This is the case if the delete file references one of the
   * removed data files (field `referenced_data_file`), or if its data sequence number is lower than `oldest`. In the
   * second case, it applies to none of the remaining data files.
   */
  def makesObsolete(e: ManifestEntry): Boolean = !isEmpty && e.file.content != Content.Data &&
    (e.file.referencedDataFile.exists(paths) || e.sequenceNumber.exists(_ < oldest))
}

private[tree] object RemovedDataFiles {
  val Empty = new RemovedDataFiles(Set.empty, 0L)
}
