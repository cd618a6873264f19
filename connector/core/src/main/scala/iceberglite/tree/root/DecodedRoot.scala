package iceberglite.tree.root

import iceberglite.tree.{CachedRoot, RootKey, TreeTable}

/**
 * The entries of a root manifest with all inherited values, and the parts that are derived from the entries, for the
 * cache. Thread-safe.
 */
final private[root] class DecodedRoot(val entries: Vector[ContentEntry]) extends CachedRoot {
  @volatile private var derived = Option.empty[RootParts]

  /**
   * Returns the parts of the root. They are derived without a lock, because `derive` may read files: concurrent first
   * calls may each derive them, and all calls return the same parts.
   */
  def parts(derive: Vector[ContentEntry] => RootParts): RootParts = derived.getOrElse(keepFirst(derive(entries)))

  private def keepFirst(parts: RootParts): RootParts = synchronized {
    val first = derived.getOrElse(parts)
    derived = Some(first)
    first
  }

  override lazy val heapBytes: Long = entries.iterator.map(DecodedRoot.heapBytes).sum
}

/**
 * The parts of a root.
 *
 * @param vectors the deletion vectors of each leaf manifest, by the location of the leaf
 * @param leaves the leaves, without the entries that their deletion vectors remove
 * @param removed the leaves that the snapshot removed as a whole
 * @param inline the files that the root lists itself
 */
final private[root] case class RootParts(
    vectors: Map[String, LeafVectors],
    leaves: Vector[LeafPart],
    removed: Vector[LeafPart],
    inline: Vector[InlinePart]
)

private[root] object DecodedRoot {
  private val EntryBytes = 1000L
  private val ColumnBytes = 300L

  /**
   * Returns the key of a root. The entries also depend on the snapshot, because they may inherit its id, and on the
   * columns and partition specs, because a bound has the type that its column had when the entry was decoded.
   */
  def key(table: TreeTable, snapshotId: Long, path: String, columns: StatsColumns): RootKey =
    RootKey(table.io, path, (snapshotId, columns.all, table.specs))

  /**
   * Returns the estimated heap size of an entry, in bytes. The root and a part each hold the entry of a file: the two
   * constants are rough estimates for both entries together, and bounds are counted twice. Deletion vectors are counted
   * twice, because they are held as bytes and as positions.
   */
  private def heapBytes(e: ContentEntry): Long =
    EntryBytes + e.location.length + ColumnBytes * e.stats.byId.size + 2 * EntrySizes.boundBytes(e) +
      2 * EntrySizes.vectorBytes(e)
}
