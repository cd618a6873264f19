package iceberglite.tree

import iceberglite.spec.{Content, ManifestEntry}

/**
 * Data files that a commit takes out, as delete files see it.
 *
 * @param oldest the least data sequence number of the data files that are left
 */
final private[tree] class Gone(paths: Set[String], oldest: Long) {
  def isEmpty: Boolean = paths.isEmpty

  /** Whether a live delete file speaks of these data files alone (adopted version 3), or now of none at all. */
  def takes(e: ManifestEntry): Boolean = !isEmpty && e.file.content != Content.Data &&
    (e.file.referencedDataFile.exists(paths) || e.sequenceNumber.exists(_ < oldest))
}

private[tree] object Gone {
  val Nothing = new Gone(Set.empty, 0L)
}
