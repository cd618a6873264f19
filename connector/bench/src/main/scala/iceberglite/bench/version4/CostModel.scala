package iceberglite.bench.version4

import iceberglite.spec.FormatVersion

/**
 * The size of a table's metadata tree.
 *
 * @param topBytes the length of the manifest list or root in bytes
 * @param inlineFiles the number of data files that the root itself lists; 0 in versions 2 and 3
 * @param manifests the number of manifests, without the root
 * @param largestManifest the number of data files in the largest manifest, without the root
 * @param manifestBytes the total length of the manifests in bytes, without the root
 */
final case class TreeShape(
    files: Long,
    topBytes: Long,
    inlineFiles: Long,
    manifests: Long,
    largestManifest: Long,
    manifestBytes: Long
) {

  /** Returns the mean number of bytes that a manifest has for a data file. */
  def bytesPerFile: Double = manifestBytes.toDouble / math.max(1L, files - inlineFiles)
}

object TreeShape {
  def of(table: BenchTable): TreeShape = {
    val (inline, manifests) = table.parts.partition(part => table.snapshot.manifestList.contains(part.path))
    val counts = manifests.flatMap(_.liveFiles)
    TreeShape(
      table.files.toLong,
      table.topBytes,
      inline.flatMap(_.liveFiles).sum,
      manifests.size.toLong,
      if (counts.isEmpty) 0L else counts.max,
      manifests.map(_.length).sum
    )
  }
}

/**
 * Predicts the bytes that a commit writes to the metadata tree of a table, from the number of its files.
 * The section "Figures" of docs/v4.md describes the formulas.
 */
sealed trait CostModel {

  /** Returns the length of the manifest list or root of a table with the given number of files, in bytes. */
  def top(files: Double): Double

  def appendOne(files: Double): Double
  def deleteOne(files: Double): Double

  /** Returns the bytes that a deletion of 1 % of the files at random writes. */
  def deleteRandom(files: Double): Double

  /** Returns the prediction for a kind of commit; absent if the model does not cover it. */
  final def bytes(kind: CommitKind, files: Double): Option[Double] = kind match {
    case CommitKind.AppendOne => Some(appendOne(files))
    case CommitKind.DeleteOne => Some(deleteOne(files))
    case CommitKind.DeleteRandom => Some(deleteRandom(files))
    case _ => None
  }

  def parameters: String
}

/**
 * The model of versions 2 and 3.
 *
 * @param one the length in bytes of a manifest with one file
 * @param perFile the number of bytes for each file in a large manifest
 * @param list the length in bytes of a manifest list without manifests
 * @param perManifest the number of bytes for each manifest in a manifest list
 * @param filesPerManifest the number of files in a large manifest
 */
final case class ListModel(
    one: Double,
    perFile: Double,
    list: Double,
    perManifest: Double,
    filesPerManifest: Double
) extends CostModel {
  override def top(files: Double): Double =
    list + perManifest * (math.ceil(files / filesPerManifest) + BenchTable.SmallAppends)
  override def appendOne(files: Double): Double = one + top(files)
  override def deleteOne(files: Double): Double = perFile * math.min(filesPerManifest, files) + top(files)
  override def deleteRandom(files: Double): Double = perFile * files + top(files)
  override def parameters: String =
    f"one-file manifest $one%.0f B, file $perFile%.0f B, list $list%.0f B + $perManifest%.0f B per manifest, " +
      f"$filesPerManifest%.0f files per manifest"
}

/**
 * The model of version 4.
 *
 * @param fixed the length in bytes of a root without entries
 * @param perFile the number of bytes for each data file in a root
 * @param perLeaf the number of bytes for each leaf manifest in a root
 * @param filesPerLeaf the number of files in a large leaf manifest
 * @param inline the number of files that the root itself lists
 */
final case class RootModel(
    fixed: Double,
    perFile: Double,
    perLeaf: Double,
    filesPerLeaf: Double,
    inline: Double
) extends CostModel {
  private val VectorBytes = 16.0
  private val PositionBytes = 2.0

  private def leaves(files: Double): Double = math.ceil(math.max(0.0, files - inline) / filesPerLeaf)

  override def top(files: Double): Double = fixed + perFile * math.min(files, inline) + perLeaf * leaves(files)
  override def appendOne(files: Double): Double = top(files) + perFile
  override def deleteOne(files: Double): Double = top(files) + VectorBytes + PositionBytes
  override def deleteRandom(files: Double): Double =
    top(files) + VectorBytes * leaves(files) + PositionBytes * files / 100
  override def parameters: String =
    f"root $fixed%.0f B + $perFile%.0f B per file + $perLeaf%.0f B per leaf, $filesPerLeaf%.0f files per leaf, " +
      f"$inline%.0f files in the root"
}

object CostModel {

  /**
   * Derives the parameters of the model from measured trees.
   *
   * @param single the tree of a table with one file
   * @param small the tree of a small table, in version 4 with files only in the root
   * @param large the tree of a large table
   * @param appendBytes the bytes that an append of one file to the large table writes
   */
  def of(
      version: FormatVersion,
      single: TreeShape,
      small: TreeShape,
      large: TreeShape,
      appendBytes: Long
  ): CostModel =
    if (version >= FormatVersion.V4) ofRoot(single, small, large)
    else {
      val perManifest = (large.topBytes - single.topBytes).toDouble / math.max(1L, large.manifests - single.manifests)
      ListModel(
        (appendBytes - large.topBytes - perManifest).max(0.0),
        large.bytesPerFile,
        single.topBytes - perManifest,
        perManifest,
        large.largestManifest.toDouble
      )
    }

  private def ofRoot(single: TreeShape, small: TreeShape, large: TreeShape): RootModel = {
    val perFile = (small.topBytes - single.topBytes).toDouble / math.max(1L, small.inlineFiles - single.inlineFiles)
    val fixed = single.topBytes - perFile
    val inLeaves = large.topBytes - fixed - perFile * large.inlineFiles
    RootModel(
      fixed,
      perFile,
      math.max(0.0, inLeaves / math.max(1L, large.manifests)),
      math.max(1.0, large.largestManifest.toDouble),
      large.inlineFiles.toDouble
    )
  }
}
