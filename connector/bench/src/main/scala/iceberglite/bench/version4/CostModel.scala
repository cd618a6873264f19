package iceberglite.bench.version4

import iceberglite.spec.FormatVersion
import iceberglite.tree.FilePart

import CostModel._

/**
 * The size of a table's metadata tree.
 *
 * @param files the number of data files of the table
 * @param topBytes the length of the manifest list or root in bytes
 * @param inlineFiles the number of data files that the root itself lists; 0 in versions 2 and 3
 * @param manifests the number of manifests, without the root
 * @param largestManifest the number of data files in the manifest with the most data files; the root does not count
 * @param largestBytes the length of this manifest in bytes
 * @param manifestBytes the total length of the manifests in bytes, without the root
 */
final case class TreeShape(
    files: Long,
    topBytes: Long,
    inlineFiles: Long,
    manifests: Long,
    largestManifest: Long,
    largestBytes: Long,
    manifestBytes: Long
) {

  /** Returns the mean number of bytes that the largest manifest has for a data file. */
  def bytesPerFile: Double = largestBytes.toDouble / math.max(1L, largestManifest)
}

object TreeShape {
  def of(table: BenchTable): TreeShape = {
    val (inline, manifests) = table.parts.partition(part => table.snapshot.manifestList.contains(part.path))
    def filesIn(part: FilePart): Long = part.liveFiles.getOrElse(0L)
    val largest = if (manifests.isEmpty) None else Some(manifests.maxBy(filesIn))
    TreeShape(
      table.files.toLong,
      table.topBytes,
      inline.flatMap(_.liveFiles).sum,
      manifests.size.toLong,
      largest.fold(0L)(filesIn),
      largest.fold(0L)(_.length),
      manifests.map(_.length).sum
    )
  }
}

/**
 * Predicts the bytes that a commit writes to the metadata tree of a table, from the number of its files. The section
 * "Cost model" of docs/v4-benchmarks.md describes the formulas.
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
 */
final case class ListModel(one: Double, perFile: Double, list: Double, perManifest: Double) extends CostModel {
  private def manifests(files: Double): Double = math.ceil(inLarge(files) / filesPerManifest(files, perFile))

  override def top(files: Double): Double = list + perManifest * (manifests(files) + BenchTable.SmallAppends)
  override def appendOne(files: Double): Double = one + top(files)
  override def deleteOne(files: Double): Double = perFile * filesPerManifest(files, perFile) + top(files)
  override def deleteRandom(files: Double): Double = {
    val shareOfSmall = 1 - math.pow(1 - RemovedShare, BenchTable.filesPerSmallAppend(files))
    perFile * inLarge(files) + one * BenchTable.SmallAppends * shareOfSmall + top(files)
  }
  override def parameters: String =
    f"one-file manifest $one%.0f B, file $perFile%.0f B, list $list%.0f B + $perManifest%.0f B per manifest"
}

/**
 * The model of version 4.
 *
 * @param fixed the length in bytes of a root without entries
 * @param perFile the number of bytes for each data file in a root
 * @param perLeaf the number of bytes for each leaf manifest in a root
 * @param perLeafFile the number of bytes for each data file in a large leaf manifest
 * @param inline the number of files that the root itself lists
 */
final case class RootModel(fixed: Double, perFile: Double, perLeaf: Double, perLeafFile: Double, inline: Double)
    extends CostModel {
  private val VectorBytes = 16.0
  private val PositionBytes = 2.0

  /** Returns the number of leaf manifests: those of the large appends, and those of the small appends. */
  private def leaves(files: Double): Double =
    math.ceil(math.max(1.0, leavesUntil(inLarge(files)))) + LeavesOfSmallAppends

  /**
   * Returns the number of leaves that large appends have written until a table has the given number of files. Beyond
   * some number of files, the target size of new leaves grows in proportion to the number of files.
   */
  private def leavesUntil(files: Double): Double = {
    val growth = perFile * perFile / LeafEntriesBytes
    val constantUntil = TargetBytes / growth
    if (files <= constantUntil) files * perLeafFile / TargetBytes
    else perLeafFile * (constantUntil / TargetBytes + math.log(files / constantUntil) / growth)
  }

  override def top(files: Double): Double = fixed + perFile * math.min(files, inline) + perLeaf * leaves(files)
  override def appendOne(files: Double): Double = top(files) + perFile
  override def deleteOne(files: Double): Double = top(files) + VectorBytes + PositionBytes
  override def deleteRandom(files: Double): Double =
    top(files) + VectorBytes * leaves(files) + PositionBytes * files * RemovedShare
  override def parameters: String =
    f"root $fixed%.0f B + $perFile%.0f B per file + $perLeaf%.0f B per leaf, $perLeafFile%.0f B per file in a leaf, " +
      f"$inline%.0f files in the root"
}

object CostModel {

  /** The share of the files that the modelled random deletion removes. */
  val RemovedShare = 0.01

  /** The default length at which large manifests and leaves are full, in bytes. */
  private[version4] val TargetBytes = 8.0 * (1 << 20)

  /** The size of the leaf entries in a root, in bytes, above which new leaves become larger than the default length. */
  private[version4] val LeafEntriesBytes = 4.0 * (1 << 20)

  /** The number of leaves that the files of the small appends have filled. */
  val LeavesOfSmallAppends = 2

  /** Returns the number of files that large appends have written. */
  def inLarge(files: Double): Double =
    math.max(1.0, files - BenchTable.SmallAppends * BenchTable.filesPerSmallAppend(files))

  /** Returns the number of files in a large manifest. */
  def filesPerManifest(files: Double, bytesPerFile: Double): Double =
    math.min(inLarge(files), TargetBytes / math.max(1.0, bytesPerFile))

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
        perManifest
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
      large.bytesPerFile,
      large.inlineFiles.toDouble
    )
  }
}
