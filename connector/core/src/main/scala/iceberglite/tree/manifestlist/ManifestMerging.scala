package iceberglite.tree.manifestlist

import scala.collection.mutable.ArrayBuffer

import iceberglite.spec.file.{ManifestContent, ManifestFile, PartSummary}
import iceberglite.spec.property.TableProperty

/**
 * Chooses the manifests of the parent snapshot that a commit merges, so that many small commits do not lead to many
 * small manifests. Manifests that the commit itself writes are not merged, so that a retry can reuse them, and so that
 * these manifests contain no entries of older snapshots.
 *
 * Bins are packed as in Apache Iceberg. Manifests of the same partition spec and content are packed into bins of the
 * target size, from the oldest to the newest, without changing the order. The manifests of each bin are merged, with
 * one exception for each content (data or deletes): the newest bin of the newest manifest's partition spec is merged
 * only if this bin and the manifests that the commit writes for this spec are together at least
 * `commit.manifest.min-count-to-merge` manifests.
 */
private[manifestlist] object ManifestMerging {

  /** Manifests to merge, in the order of the manifest list. A bin with a single manifest is not rewritten. */
  type Bin = Vector[ManifestPart]

  /**
   * Returns the bins of the manifests that are carried over.
   *
   * @param kept the carried-over manifests, newest first
   * @param newManifests the manifests that the commit itself writes
   */
  def bins(
      kept: Vector[ManifestPart],
      newManifests: Vector[ManifestFile],
      properties: Map[String, String]
  ): Vector[Bin] =
    if (!TableProperty.of(TableProperty.ManifestMerge, properties)) kept.map(Vector(_))
    else {
      val target = TableProperty.of(TableProperty.ManifestTargetSize, properties)
      val minCount = TableProperty.of(TableProperty.ManifestMinCountToMerge, properties)
      val newestGroups = ManifestContent.all.flatMap(c =>
        (newManifests.iterator ++ kept.iterator: Iterator[PartSummary]).find(_.content == c)
      ).map(group).toSet
      val packed = kept.map(group).distinct.flatMap { g =>
        val bins = packFromEnd(kept.filter(group(_) == g), target)
        val newestBinSize = bins.head.size + newManifests.count(group(_) == g)
        if (newestGroups(g) && newestBinSize < minCount) bins.head.map(Vector(_)) ++ bins.tail else bins
      }
      val position = kept.map(_.path).zipWithIndex.toMap
      packed.sortBy(bin => position(bin.head.path))
    }

  private def group(m: PartSummary): (ManifestContent, Int) = (m.content, m.specId)

  /** Fills bins from the end, beginning with the oldest manifest, so that only the newest bin may be underfilled. */
  private def packFromEnd(manifests: Vector[ManifestPart], target: Long): Vector[Bin] = {
    val bins = ArrayBuffer(Vector.empty[ManifestPart])
    var size = 0L
    manifests.reverseIterator.foreach { m =>
      if (size + m.length > target && bins.last.nonEmpty) {
        bins += Vector.empty
        size = 0L
      }
      bins(bins.size - 1) = m +: bins.last
      size += m.length
    }
    bins.reverseIterator.toVector
  }
}
