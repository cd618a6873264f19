package iceberglite.tree.manifestlist

import scala.collection.mutable

import iceberglite.spec.file.{ManifestContent, ManifestEntry, ManifestFile}
import iceberglite.spec.file.EntryStatus.Existing
import iceberglite.spec.partition.{PartitionSpec, PartitionTuple}
import iceberglite.spec.property.TableProperty
import iceberglite.tree.{CloseableIterator, EntryBatches, EntrySizeEstimates, ManifestRewrite, TreeTable}

/**
 * A manifest that an attempt has written.
 *
 * @param rows the entries as they were written, without inherited values; empty if an earlier attempt has written the
 *   manifest, or if the memory cannot hold the entries of all manifests
 */
final private[manifestlist] case class WrittenManifest(manifest: ManifestFile, rows: Vector[ManifestEntry])

/** The result of a rewrite. @param written the manifests that this or an earlier attempt has written */
final private[manifestlist] case class RewrittenManifests(
    replacement: ManifestReplacement,
    written: Vector[WrittenManifest]
) {
  private val replaced = replacement.oldManifests.map(_.path).toSet

  /** Returns whether a manifest of the parent was not replaced. */
  def isKept(part: ManifestPart): Boolean = !replaced(part.path)
}

/**
 * Rewrites manifests. The live entries of the manifests are written to new manifests in a given order, so that scans
 * can skip more manifests. The sequence numbers, row ids and snapshot ids of the entries do not change.
 *
 * @param entries reads a manifest of the parent
 * @param write writes entries to a new manifest
 * @param maxHeapBytes the maximum estimated heap size of the entries that the rewrite holds at the same time, in bytes
 */
final private[manifestlist] class ManifestRewriter(
    table: TreeTable,
    entries: ManifestPart => CloseableIterator[ManifestEntry],
    write: (ManifestContent, PartitionSpec, Vector[ManifestEntry]) => WrittenManifest,
    maxHeapBytes: Long = ManifestRewriter.MaxHeapBytes
) {

  private val version = table.metadata.formatVersion

  /**
   * Returns the rewritten manifests; absent if no manifest is chosen.
   *
   * @param candidates the manifests of the parent that may be rewritten
   * @param earlier the result of an earlier attempt. This result is reused if the parent snapshot still has all
   *   manifests that were replaced
   */
  def rewriteChosen(
      candidates: Vector[ManifestPart],
      by: ManifestRewrite,
      earlier: Option[ManifestReplacement]
  ): Option[RewrittenManifests] = {
    // The first row ids are also compared, because after an upgrade to version 3, another commit may have assigned row
    // ids that the entries of the earlier attempt do not have.
    val listed = candidates.map(m => (m.path, m.manifest.firstRowId)).toSet
    val reusable =
      earlier.filter(e => e.version == version && e.oldManifests.forall(m => listed((m.path, m.firstRowId))))
    reusable.map(e => RewrittenManifests(e, e.newManifests.map(WrittenManifest(_, Vector.empty)))).orElse {
      val chosen = by.choose(candidates)
      if (chosen.isEmpty) None else Some(rewrite(chosen, by))
    }
  }

  private def rewrite(chosen: Vector[ManifestPart], by: ManifestRewrite): RewrittenManifests = {
    val groups = chosen.map(m => (m.content, m.specId)).distinct
    val results = groups.map { group =>
      val parts = chosen.filter(m => (m.content, m.specId) == group)
      if (parts.iterator.map(EntrySizeEstimates.maxHeapBytes).sum > maxHeapBytes) writeRanges(parts, by)
      else {
        val rows = live(parts)
        (rows.size, writeSorted(parts, by, rows))
      }
    }
    val written = results.flatMap(_._2)
    RewrittenManifests(
      ManifestReplacement(chosen.map(_.manifest), written.map(_.manifest), version, results.map(_._1).sum),
      written
    )
  }

  private def live(parts: Vector[ManifestPart]): Vector[ManifestEntry] =
    table.pool.map(parts)(entries(_).filter(_.isLive).toVector).flatten

  /** Writes the entries of manifests of one partition spec in the given order. Returns the new manifests. */
  private def writeSorted(
      parts: Vector[ManifestPart],
      by: ManifestRewrite,
      rows: Vector[ManifestEntry]
  ): Vector[WrittenManifest] = {
    val (content, spec) = (parts.head.content, parts.head.spec)
    val target = TableProperty.of(TableProperty.ManifestTargetSize, table.metadata.properties)
    val sorted = rows.sortBy(_.file.partition)(by.order(spec)).map(_.copy(status = Existing))
    table.pool.map(ManifestListWriter.runs(sorted, target)(_.file))(write(content, spec, _))
  }

  /**
   * Writes the entries of more manifests than the memory can hold. First, the partitions of all entries are counted.
   * Then, for each range of partitions whose entries fit into memory, the manifests that may list files of the range
   * are read again. If the entries of a single partition do not fit into memory, they are written in several batches,
   * because their order does not matter.
   *
   * @return the number of entries, and the new manifests
   */
  private def writeRanges(parts: Vector[ManifestPart], by: ManifestRewrite): (Int, Vector[WrittenManifest]) = {
    val order = by.order(parts.head.spec)
    val counted = parts.map { part =>
      val counts = mutable.Map.empty[PartitionTuple, Int].withDefaultValue(0)
      entries(part).filter(_.isLive).foreach(e => counts(e.file.partition) += 1)
      counts.toMap
    }
    val counts = mutable.Map.empty[PartitionTuple, Int].withDefaultValue(0)
    counted.foreach(_.foreach { case (partition, n) => counts(partition) += n })
    val heapBytes = parts.iterator.map(EntrySizeEstimates.maxHeapBytes).sum
    val maxEntries = math.max(1L, counts.values.map(_.toLong).sum * maxHeapBytes / heapBytes).toInt
    val ranges = ManifestListWriter.splitBySize(counts.toVector.sortBy(_._1)(order), maxEntries.toLong)(_._2.toLong)
    val written = ranges.flatMap { range =>
      val partitions = range.map(_._1).toSet
      val containing = parts.indices.filter(i => counted(i).keysIterator.exists(partitions)).map(parts)
      val batches = new EntryBatches(maxEntries, writeSorted(parts, by, _).map(_.copy(rows = Vector.empty)))
      containing.foreach { part =>
        entries(part).filter(e => e.isLive && partitions(e.file.partition)).foreach(e => batches.add(withoutBlock(e)))
      }
      batches.result()
    }
    (counts.values.sum, written)
  }

  /** Returns a copy of an entry that does not keep other entries of its manifest in memory. */
  private def withoutBlock(entry: ManifestEntry): ManifestEntry = entry.file.metrics match {
    case encoded: EncodedMetrics => entry.copy(file = entry.file.copy(metrics = encoded.withoutBlock))
    case _ => entry
  }
}

private[manifestlist] object ManifestRewriter {

  /** The default maximum of the heap size of the entries that a rewrite holds at the same time, in bytes. */
  val MaxHeapBytes: Long = math.max(64L << 20, Runtime.getRuntime.maxMemory / 6)

}
