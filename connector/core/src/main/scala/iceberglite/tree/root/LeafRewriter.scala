package iceberglite.tree.root

import scala.collection.mutable

import iceberglite.spec.file.EntryStatus.Existing
import iceberglite.spec.file.{ManifestContent, ManifestEntry}
import iceberglite.spec.partition.PartitionTuple
import iceberglite.spec.property.TableProperty
import iceberglite.tree.{CloseableIterator, EntryBatches, EntrySizeEstimates, FilePart, ManifestRewrite, TreeTable}

/**
 * The result of a rewrite of chosen leaf manifests, and of files that the root manifest lists itself.
 *
 * @param replaced the ids of the replaced leaves (see [[LeafPart.id]]), with their first row ids
 * @param movable for each leaf that the commit does not change, by its id and first row id, whether it can be replaced
 * @param moved the keys of the files that the root listed itself, and that a new leaf lists; see [[InlinePart.key]]
 * @param parts the number of the replaced parts of the tree
 * @param groups for the path of each replaced leaf, the path of the new leaf that lists all of its files; `None` if the
 *   files may be divided among several new leaves, or if there are no live files
 * @param written the new leaves
 */
final private[root] case class RewrittenLeaves(
    replaced: Set[(String, Option[Long])],
    movable: Map[(String, Option[Long]), Boolean],
    moved: Set[String],
    parts: Int,
    groups: Map[String, Option[String]],
    written: Vector[ContentEntry]
)

/**
 * Rewrites leaves, and the files that the root lists itself, into new leaves with their entries in a given order. The
 * entries keep their sequence numbers, row ids and snapshot ids.
 *
 * @param read reads the entries that a leaf lists
 * @param runs divides entries among leaves of about the target size
 * @param write writes entries of data files or of delete files, whose partition values have the same types, to a leaf
 * @param isMovable returns whether a leaf can be replaced; may read the leaf
 * @param maxHeapBytes the maximum estimated heap size of the entries that the rewrite holds at the same time, in bytes
 */
final private[root] class LeafRewriter(
    table: TreeTable,
    read: LeafPart => CloseableIterator[ManifestEntry],
    runs: LeafRuns,
    write: Vector[ManifestEntry] => ContentEntry,
    isMovable: LeafPart => Boolean,
    maxHeapBytes: Long
) {

  /** A part of the parent's tree with its live entries. */
  private case class Source(part: FilePart, entries: () => CloseableIterator[ManifestEntry]) {
    def live: CloseableIterator[ManifestEntry] = entries().filter(_.isLive)
    def group: (ManifestContent, Int) = (part.content, part.specId)
  }

  /**
   * Returns the rewritten leaves; absent if nothing is chosen.
   *
   * @param leaves the leaves that the commit does not change
   * @param inline the files that the parent's root lists itself, and that the commit carries over
   * @param earlier the result of an earlier attempt, which is reused if the parent still has everything that it
   *   replaced. Otherwise, leaves that the earlier attempt has checked with `isMovable` are not checked again
   */
  def rewrite(
      leaves: Vector[LeafPart],
      inline: Vector[InlinePart],
      by: ManifestRewrite,
      earlier: Option[RewrittenLeaves]
  ): Option[RewrittenLeaves] = earlier.filter(isReusable(_, leaves, inline)).orElse {
    val movable = check(leaves, earlier)
    val inLeaves = leaves.collect { case leaf if movable(LeafRewriter.version(leaf)) => Source(leaf, () => read(leaf)) }
    val inRoot = inline.filter(_.hasLiveFiles)
      .map(part => Source(part, () => CloseableIterator.of(part.pairs.iterator.map(_._2))))
    val sources = inLeaves ++ inRoot
    val chosen = by.choose(sources.map(_.part)).map(_.id).toSet
    val replaced = sources.filter(source => chosen(source.part.id))
    if (replaced.isEmpty) None else Some(rewriteAll(replaced, movable, by))
  }

  /** Returns whether each leaf can be replaced. */
  private def check(
      leaves: Vector[LeafPart],
      earlier: Option[RewrittenLeaves]
  ): Map[(String, Option[Long]), Boolean] = table.pool.map(leaves) { leaf =>
    val version = LeafRewriter.version(leaf)
    version -> earlier.flatMap(_.movable.get(version)).getOrElse(isMovable(leaf))
  }.toMap

  private def isReusable(earlier: RewrittenLeaves, leaves: Vector[LeafPart], inline: Vector[InlinePart]): Boolean = {
    val listed = leaves.map(LeafRewriter.version).toSet
    earlier.replaced.subsetOf(listed) && earlier.moved.subsetOf(inline.flatMap(LeafRewriter.keysOf).toSet)
  }

  private def rewriteAll(
      replaced: Vector[Source],
      movable: Map[(String, Option[Long]), Boolean],
      by: ManifestRewrite
  ): RewrittenLeaves = {
    val groups = replaced.map(_.group).distinct.map(key => replaced.filter(_.group == key))
    val written = groups.map(group => group -> writeGroup(group, by))
    val targets = written.flatMap { case (group, leaves) =>
      val only = if (leaves.size == 1) leaves.headOption.map(_.location) else None
      group.map(_.part).collect { case leaf: LeafPart => leaf.path -> only }
    }
    RewrittenLeaves(
      replaced.map(_.part).collect { case leaf: LeafPart => LeafRewriter.version(leaf) }.toSet,
      movable,
      replaced.map(_.part).collect { case part: InlinePart => LeafRewriter.keysOf(part) }.flatten.toSet,
      replaced.size,
      targets.toMap,
      written.flatMap(_._2)
    )
  }

  private def writeGroup(group: Vector[Source], by: ManifestRewrite): Vector[ContentEntry] = {
    val order = by.order(table.specs.of(group.head.part))
    val heapBytes = group.iterator.map(source => EntrySizeEstimates.maxDecodedBytes(source.part)).sum
    if (heapBytes <= maxHeapBytes) writeSorted(table.pool.map(group)(_.live.toVector).flatten, order)
    else writeRanges(group, order, heapBytes)
  }

  private def writeSorted(entries: Vector[ManifestEntry], order: Ordering[PartitionTuple]): Vector[ContentEntry] = {
    val target = TableProperty.of(TableProperty.ManifestTargetSize, table.metadata.properties)
    val sorted = entries.sortBy(_.file.partition)(order).map(_.copy(status = Existing))
    if (sorted.isEmpty) Vector.empty else table.pool.map(runs.of(sorted, target)(identity))(write)
  }

  /**
   * Writes more entries than the memory can hold. First, the entries of each partition are counted. Then, for each
   * range of partitions whose entries fit into memory, the parts with files of the range are read again. If the entries
   * of one partition do not fit into memory, they are written in several batches, because their order does not matter.
   */
  private def writeRanges(
      group: Vector[Source],
      order: Ordering[PartitionTuple],
      heapBytes: Long
  ): Vector[ContentEntry] = {
    val counted = group.map { source =>
      val counts = mutable.Map.empty[PartitionTuple, Long].withDefaultValue(0L)
      source.live.foreach(e => counts(e.file.partition) += 1)
      source -> counts.toMap
    }
    val counts = counted.flatMap(_._2.toVector).groupBy(_._1).toVector
      .map { case (partition, parts) => partition -> parts.map(_._2).sum }.sortBy(_._1)(order)
    val maxEntries = math.max(1L, (counts.map(_._2).sum.toDouble * maxHeapBytes / heapBytes).toLong)
      .min(Int.MaxValue.toLong).toInt
    LeafRewriter.ranges(counts, maxEntries).flatMap { range =>
      val containing = counted.filter(_._2.keysIterator.exists(range)).map(_._1)
      val batches = new EntryBatches(maxEntries, writeSorted(_, order))
      containing.foreach(_.live.filter(e => range(e.file.partition)).foreach(e =>
        batches.add(LeafRewriter.detached(e))
      ))
      batches.result()
    }
  }
}

private[root] object LeafRewriter {

  /** Identifies the entries of a leaf: the leaf with its deletion vector, and its first row id. */
  private def version(leaf: LeafPart): (String, Option[Long]) = (leaf.id, leaf.leaf.firstRowId)

  /** Returns a copy of an entry that does not keep the statistics of its whole leaf in memory. */
  private def detached(entry: ManifestEntry): ManifestEntry = entry.file.metrics match {
    case typed: TypedMetrics => entry.copy(file = entry.file.copy(metrics = typed.detached))
    case _ => entry
  }

  private def keysOf(part: InlinePart): Vector[String] = part.pairs.map(_._2).filter(_.isLive).map(InlinePart.key)

  /** Divides partitions into ranges with at most `maxEntries` entries each, except ranges of a single partition. */
  private def ranges(counts: Vector[(PartitionTuple, Long)], maxEntries: Int): Vector[Set[PartitionTuple]] =
    counts.foldLeft(Vector.empty[(Set[PartitionTuple], Long)]) { case (found, (partition, count)) =>
      found.lastOption match {
        case Some((range, sum)) if sum + count <= maxEntries => found.init :+ ((range + partition, sum + count))
        case _ => found :+ ((Set(partition), count))
      }
    }.map(_._1)
}
