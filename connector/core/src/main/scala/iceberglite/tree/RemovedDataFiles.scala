package iceberglite.tree

import iceberglite.spec.{Content, ManifestEntry}

/**
 * Data files that a commit removes, to find the delete files that go with them.
 *
 * @param oldest the least data sequence number of the data files that stay
 */
final private[tree] class RemovedDataFiles(paths: Set[String], oldest: Long) {
  def isEmpty: Boolean = paths.isEmpty

  /** Whether a live delete file applies to these data files alone (adopted version 3), or now to none at all. */
  def makesObsolete(e: ManifestEntry): Boolean = !isEmpty && e.file.content != Content.Data &&
    (e.file.referencedDataFile.exists(paths) || e.sequenceNumber.exists(_ < oldest))
}

private[tree] object RemovedDataFiles {
  val Empty = new RemovedDataFiles(Set.empty, 0L)
}
