package iceberglite.tree.root

import iceberglite.spec.types.Literal
import iceberglite.tree.root.VectorContent.{InPuffin, Inline}

/** Estimates how many bytes entries take in a manifest. The estimates are based on measured files. */
private[root] object EntrySizes {
  private val EntryBytes = 50L
  private val ColumnBytes = 18L

  /** Returns the estimated size of an entry in bytes. */
  def of(e: ContentEntry): Long =
    EntryBytes + inlineBytes(e) + statsBytes(e.stats.byId.values) + e.keyMetadata.fold(0L)(_.remaining.toLong)

  /** Returns the estimated size of the statistics of a file in bytes. */
  def statsBytes(stats: Iterable[FieldStats]): Long = ColumnBytes * stats.size + stats.iterator.map(longBounds).sum

  def of(entries: Iterable[ContentEntry]): Long = entries.iterator.map(of(_)).sum

  /** Returns the estimated size of an entry with statistics of the given number of columns, without long bounds. */
  def withColumns(columns: Int): Long = EntryBytes + ColumnBytes * columns

  /** Returns the size of an inline deletion vector in bytes; 0 for other entries. */
  def inlineBytes(e: ContentEntry): Long = e.vector match {
    case Some(Inline(bytes)) => bytes.remaining.toLong
    case Some(_: InPuffin) | None => 0L
  }

  /**
   * Returns the size of the deletion vector of a manifest in bytes, whether it is in the root or in a Puffin file; 0
   * for other entries, including the deletion vectors of data files.
   */
  def vectorBytes(e: ContentEntry): Long =
    inlineBytes(e) + e.vector.collect { case InPuffin(_, size) if !e.isFile => size }.getOrElse(0L)

  /** Returns the size of the strings and binary values in the bounds of an entry: characters plus bytes. */
  def boundBytes(e: ContentEntry): Long = e.stats.byId.valuesIterator.map(longBounds).sum

  private def longBounds(s: FieldStats): Long = s.lower.fold(0L)(lengthOf) + s.upper.fold(0L)(lengthOf)

  private def lengthOf(value: Literal): Long = value match {
    case Literal.StringLiteral(text) => text.length.toLong
    case Literal.BinaryLiteral(bytes) => bytes.remaining.toLong
    case Literal.FixedLiteral(bytes) => bytes.remaining.toLong
    case _ => 0L
  }

  /** The size of the leaf entries in a root, in bytes, above which leaves become larger than the configured size. */
  private val LeafEntriesBytes = 4L << 20
  private val MaxLeafBytes = 64L << 20

  /**
   * Returns the target size of a leaf manifest in bytes. In a large table, leaves are larger than the configured size,
   * so that the root, whose size grows with the number of leaves, does not grow in proportion to the number of files.
   *
   * @param configured the configured size, which is the minimum
   * @param files the number of files in the table
   * @param entryBytes the estimated size of an entry
   */
  def leafTarget(configured: Long, files: Long, entryBytes: Long): Long = {
    val needed = files.toDouble * entryBytes * entryBytes / LeafEntriesBytes
    math.max(configured, math.min(needed, MaxLeafBytes.toDouble).toLong)
  }
}
