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
    // The estimate for an entry that was read from a manifest in Avro does not depend on its statistics.
    val least = EntrySizes.withColumns(columns.all.size)
    if (own.iterator.map(e => math.max(EntrySizeEstimates.encodedBytes(e.file), least)).sum <= target) Vector(own)
    else {
      val count = math.ceil(encodedBytes(own) / math.max(1L, target)).toInt
      if (count <= 1) Vector(own) else sort(own).grouped((own.size + count - 1) / count).toVector
    }
  }

  /** Returns the size of a leaf with these entries in bytes, from the encoded size of several blocks of them. */
  private def encodedBytes(entries: Vector[ManifestEntry]): Double = {
    val blocks = (0 until Blocks).map(i => (entries.size.toLong * i / Blocks).toInt)
    val sample =
      if (entries.size <= Blocks * BlockSize) entries
      else blocks.flatMap(at => entries.slice(at, at + BlockSize)).toVector
    val kind = if (entries.head.file.content == Content.Data) ManifestKind.DataLeaf else ManifestKind.DeleteLeaf
    val encoded = RootManifests.write("sample", kind, columns, sample.map(files.toContent))
    encoded.length.toDouble / sample.size * entries.size
  }
}

private object LeafRuns {

  /**
   * The number of blocks that are encoded. Their entries are adjacent, as in a leaf, because adjacent entries are alike
   * and can be compressed well; several blocks represent entries with different statistics.
   */
  private val Blocks = 10

  /** The number of entries of a block. */
  private val BlockSize = 100
}
