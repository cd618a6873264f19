package iceberglite.tree.root

import iceberglite.spec.file.{Content, ManifestEntry}
import iceberglite.tree.EntrySizeEstimates

/** Divides entries into runs, each for one leaf manifest of about the target size. */
final private[root] class LeafRuns(columns: StatsColumns) {
  import LeafRuns._

  private val files = new EntryFiles(columns)

  /**
   * Returns the runs. Entries whose partition values have several types are in different runs. If the entries may be
   * larger than the target, a sample of them is encoded, because the estimates do not know how well statistics can be
   * compressed.
   *
   * @param entries entries of one partition spec, either all of data files or all of delete files
   * @param target the target size of a leaf in bytes
   * @param sort sorts the entries if there are several runs
   */
  def of(entries: Vector[ManifestEntry], target: Long)(
      sort: Vector[ManifestEntry] => Vector[ManifestEntry]
  ): Vector[Vector[ManifestEntry]] = OpaqueStatistics.divide(columns, entries).flatMap { own =>
    val estimates = own.map(e => EntrySizeEstimates.encodedBytes(e.file))
    // The estimate for an entry that was read from a manifest in Avro does not depend on its statistics.
    val most = estimates.iterator.map(math.max(_, EntrySizes.withColumns(columns.all.size))).sum
    if (most <= target) Vector(own)
    else {
      val count = math.ceil(encodedBytes(own, estimates) / math.max(1L, target)).toInt
      if (count <= 1) Vector(own) else sort(own).grouped((own.size + count - 1) / count).toVector
    }
  }

  /** Returns the size of a leaf with these entries in bytes, from the encoded size of the entries in the middle. */
  private def encodedBytes(entries: Vector[ManifestEntry], estimates: Vector[Long]): Double = {
    val start = math.max(0, (entries.size - SampleSize) / 2)
    val sample = entries.slice(start, start + SampleSize).map(files.toContent)
    val kind = if (entries.head.file.content == Content.Data) ManifestKind.DataLeaf else ManifestKind.DeleteLeaf
    val encoded = RootManifests.write("sample", kind, columns, sample).length.toDouble
    encoded / estimates.slice(start, start + SampleSize).sum * estimates.sum
  }
}

private object LeafRuns {

  /** The number of entries that are encoded to measure the size of others. */
  private val SampleSize = 1000
}
