package iceberglite.tree.root

import iceberglite.storage.FileIO
import iceberglite.tree.{CachedRoot, RootKey}

/** The entries of a root with all inherited values, for the cache. */
final private[root] class DecodedRoot(val entries: Vector[ContentEntry]) extends CachedRoot {
  override lazy val heapBytes: Long = entries.iterator.map(DecodedRoot.heapBytes).sum
}

private[root] object DecodedRoot {
  private val EntryBytes = 500L
  private val ColumnBytes = 300L

  /**
   * Returns the key of a root. The entries also depend on the snapshot, whose id they may inherit, and on the columns,
   * because a bound has the type that its column had when the entry was decoded.
   */
  def key(io: FileIO, snapshotId: Long, path: String, columns: StatsColumns): RootKey =
    RootKey(io, path, (snapshotId, columns.all))

  private def heapBytes(e: ContentEntry): Long =
    EntryBytes + e.location.length + ColumnBytes * e.stats.byId.size + EntrySizes.inlineBytes(e)
}
