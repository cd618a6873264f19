package iceberglite.tree.manifestlist

import scala.collection.mutable.ArrayBuffer

import iceberglite.spec.file.{ManifestContent, ManifestFile, PartSummary}
import iceberglite.spec.property.TableProperty

/**
 * Chooses which of the manifests that a commit carries over to merge, so that a table with many small commits does not
 * have many small manifests. Manifests that the commit itself writes are not merged: a retry can reuse them, and the
 * changes can be seen without reading old entries.
 *
 * The bin packing is that of Apache Iceberg: manifests of the same spec and content are packed into bins of the target
 * size, from the oldest to the newest, without changing the order. A full bin is merged at once. The newest bin, if its
 * spec is that of the new files, is merged only when there are enough manifests.
 */
private[manifestlist] object ManifestMerging {

  /** Manifests to merge, or a single one that stays, in the order of the list. */
  type Bin = Vector[ManifestPart]

  /**
   * Returns the bins of the manifests that are carried over.
   *
   * @param kept these manifests, newest first
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
      val growing = ManifestContent.all.flatMap(c =>
        (newManifests.iterator ++ kept.iterator: Iterator[PartSummary]).find(_.content == c)
      ).map(group).toSet
      val packed = kept.map(group).distinct.flatMap { g =>
        val bins = packFromEnd(kept.filter(group(_) == g), target)
        val newest = bins.head.size + newManifests.count(group(_) == g)
        if (growing(g) && newest < minCount) bins.head.map(Vector(_)) ++ bins.tail else bins
      }
      val position = kept.map(_.path).zipWithIndex.toMap
      packed.sortBy(bin => position(bin.head.path))
    }

  private def group(m: PartSummary): (ManifestContent, Int) = (m.content, m.specId)

  /** Fills bins from the end, so that the underfilled bin is the newest. */
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
