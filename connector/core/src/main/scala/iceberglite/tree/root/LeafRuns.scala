package iceberglite.tree.root

import iceberglite.spec.file.{Content, ManifestEntry}
import iceberglite.tree.EntrySizeEstimates

/** Divides entries into runs, each for one leaf manifest of about the target size. */
final private[root] class LeafRuns(columns: StatsColumns) {
  import LeafRuns._

  private val files = new EntryFiles(columns)

  /**
   * Returns the runs. If the estimated size of all entries exceeds the target, a sample of them is encoded, because the
   * estimate does not know how well their statistics can be compressed.
   *
   * @param entries entries of one partition spec, either all of data files or all of delete files
   * @param target the target size of a leaf in bytes
   * @param sort sorts the entries if there are several runs
   */
  def of(entries: Vector[ManifestEntry], target: Long)(
      sort: Vector[ManifestEntry] => Vector[ManifestEntry]
  ): Vector[Vector[ManifestEntry]] =
    if (entries.iterator.map(e => EntrySizeEstimates.encodedBytes(e.file)).sum <= target) Vector(entries)
    else {
      val count = math.ceil(encodedBytes(entries) / math.max(1L, target)).toInt
      if (count <= 1) Vector(entries) else sort(entries).grouped((entries.size + count - 1) / count).toVector
    }

  /** Returns the size of a leaf with these entries in bytes, from the encoded size of the entries in the middle. */
  private def encodedBytes(entries: Vector[ManifestEntry]): Double = {
    val start = math.max(0, (entries.size - SampleSize) / 2)
    val sample = entries.slice(start, start + SampleSize).map(files.toContent)
    val kind = if (entries.head.file.content == Content.Data) ManifestKind.DataLeaf else ManifestKind.DeleteLeaf
    RootManifests.write("sample", kind, columns, sample).length.toDouble / sample.size * entries.size
  }
}

private object LeafRuns {

  /** The number of entries that are encoded to measure the size of others. */
  private val SampleSize = 1000
}
