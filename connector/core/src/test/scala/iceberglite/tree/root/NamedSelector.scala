package iceberglite.tree.root

import iceberglite.spec.file.{ManifestEntry, PartSummary}
import iceberglite.tree.FileSelector

/** Removes the data files with the given names, without the extension. */
final class NamedSelector(names: Set[String]) extends FileSelector {
  override def mightMatch(part: PartSummary): Boolean = part.hasLiveFiles

  override def removes(entry: ManifestEntry): Boolean =
    names(entry.file.path.split('/').last.stripSuffix(".parquet"))
}
