package iceberglite.maintenance.compact

import iceberglite.maintenance.OptionValues
import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.property.RowLevelProperty.DeleteTargetSize
import iceberglite.spec.property.TableProperty

/** The order in which file groups are rewritten. */
sealed abstract class GroupOrder(val name: String, val ordering: Option[Ordering[RewriteGroup]])
object GroupOrder {
  case object Unordered extends GroupOrder("none", None)
  case object FewestBytes extends GroupOrder("bytes-asc", Some(Ordering.by(_.bytes)))
  case object MostBytes extends GroupOrder("bytes-desc", Some(Ordering.by(-_.bytes)))
  case object FewestFiles extends GroupOrder("files-asc", Some(Ordering.by(_.files)))
  case object MostFiles extends GroupOrder("files-desc", Some(Ordering.by(-_.files)))
  val all: Seq[GroupOrder] = Seq(Unordered, FewestBytes, MostBytes, FewestFiles, MostFiles)
}

/**
 * The division of a rewrite into several commits, so that a failure does not discard all of its work.
 *
 * @param maxCommits the maximum number of commits into which the file groups are divided
 * @param maxFailedCommits the number of commits that may fail before the rewrite fails
 */
final case class PartialProgress(maxCommits: Int, maxFailedCommits: Int)

/**
 * The options that rewrites of data files and of position delete files have in common, with the names and defaults of
 * Apache Iceberg. These options determine the groups of files that are rewritten together.
 *
 * @param targetFileSize the desired size of a new file, in bytes
 * @param minFileSize the size in bytes below which a file is chosen for a rewrite
 * @param maxFileSize the size in bytes above which a file is chosen for a rewrite
 * @param minInputFiles the minimum number of files for which a group is rewritten regardless of its total size
 * @param rewriteAll whether all files are rewritten
 * @param maxGroupSize maximum size of a group in bytes, unless a single file is larger
 * @param maxGroupFiles maximum number of files in a group
 * @param partialProgress the division into several commits; absent for a single commit
 * @param maxConcurrentGroups the maximum number of groups that are rewritten at the same time, each by a Spark job
 */
final case class GroupOptions(
    targetFileSize: Long,
    minFileSize: Long,
    maxFileSize: Long,
    minInputFiles: Int,
    rewriteAll: Boolean,
    maxGroupSize: Long,
    maxGroupFiles: Long,
    order: GroupOrder,
    partialProgress: Option[PartialProgress],
    maxConcurrentGroups: Int
) {

  /**
   * The size at which a writer begins a new file. This size is above the target size, so that the last file is not a
   * small file.
   */
  def writeMaxFileSize: Long = targetFileSize + (maxFileSize - targetFileSize) / 2

  /**
   * Returns the number of files into which the given number of bytes is written, so that no file is much smaller or
   * much larger than the target size.
   */
  def outputFiles(bytes: Long): Int = {
    val full = bytes / targetFileSize
    val remainder = bytes % targetFileSize
    val files =
      if (bytes < targetFileSize) 1L
      else if (remainder > minFileSize) full + 1
      else if (bytes / full < math.min(targetFileSize + targetFileSize / 10, writeMaxFileSize)) full
      else full + (if (remainder > 0) 1 else 0)
    math.min(files, GroupOptions.MaxOutputFiles).toInt
  }

  /** Returns whether a file of this size is chosen for a rewrite; [[reasonFor]] then decides about its group. */
  def isChosen(size: Long): Boolean = rewriteAll || size < minFileSize || size > maxFileSize

  /** Divides files into groups within the limits of these options, in the order of the files. */
  def divide[A](files: Vector[A])(sizeOf: A => Long): Vector[Vector[A]] = {
    val groups = Vector.newBuilder[Vector[A]]
    var group = Vector.newBuilder[A]
    var (count, bytes) = (0L, 0L)
    files.foreach { file =>
      val size = sizeOf(file)
      if (count > 0 && (bytes + size > maxGroupSize || count == maxGroupFiles)) {
        groups += group.result()
        group = Vector.newBuilder[A]
        count = 0
        bytes = 0
      }
      group += file
      count += 1
      bytes += size
    }
    if (count > 0) groups += group.result()
    groups.result()
  }

  /**
   * Returns why chosen files are rewritten together; absent if a rewrite would not improve their sizes.
   *
   * @param files the number of files
   * @param bytes the total size of the files
   */
  def reasonFor(files: Long, bytes: Long): Option[String] =
    if (rewriteAll) Some("all files are rewritten")
    else if (files > 1 && files >= minInputFiles)
      Some(s"$files files have sizes outside of $minFileSize to $maxFileSize bytes")
    else if (files > 1 && bytes > targetFileSize)
      Some(s"$files files together fill at least one file of $targetFileSize bytes")
    else if (bytes > maxFileSize) Some(s"a file is larger than $maxFileSize bytes")
    else None

  /** Returns groups in the order in which they are rewritten. */
  def sorted[G <: RewriteGroup](groups: Vector[G]): Vector[G] = order.ordering.fold(groups)(groups.sorted(_))
}

object GroupOptions {

  /** The maximum number of files that the rewrite of a file group writes. */
  private val MaxOutputFiles = 100000L

  private val MaxTargetSize = 1L << 50

  private val MaxConcurrentGroups = "max-concurrent-file-group-rewrites"
  private val PartialProgressEnabled = "partial-progress.enabled"
  private val PartialProgressCommits = "partial-progress.max-commits"
  private val JobOrder = "rewrite-job-order"
  private val TargetFileSize = "target-file-size-bytes"
  private val MinFileSize = "min-file-size-bytes"
  private val MaxFileSize = "max-file-size-bytes"
  private val MinInputFiles = "min-input-files"

  /** The name of the option to rewrite all files, whatever their size. */
  val RewriteAll: String = "rewrite-all"
  private val MaxGroupSize = "max-file-group-size-bytes"
  private val MaxGroupFiles = "max-file-group-input-files"
  private[compact] val PartialProgressFailures = "partial-progress.max-failed-commits"

  /** The names of the options that rewrites of data files and of position delete files have in common. */
  private[compact] val names: Seq[String] = Seq(
    MaxConcurrentGroups,
    PartialProgressEnabled,
    PartialProgressCommits,
    JobOrder,
    TargetFileSize,
    MinFileSize,
    MaxFileSize,
    MinInputFiles,
    RewriteAll,
    MaxGroupSize,
    MaxGroupFiles
  )

  /**
   * Parses the options of a rewrite of position delete files.
   *
   * @throws iceberglite.spec.IcebergError.InvalidArgument if an option is unknown or has an invalid value
   */
  def ofPositionDeletes(options: Map[String, String], metadata: TableMetadata): GroupOptions =
    of(new OptionValues(options, names), TableProperty.of(DeleteTargetSize, metadata.properties))

  /** @param defaultTarget the size of new files in bytes if the option is not set */
  private[compact] def of(values: OptionValues, defaultTarget: Long): GroupOptions = {
    val target = values.long(TargetFileSize, defaultTarget, 1, MaxTargetSize)
    val min = values.long(MinFileSize, target * 3 / 4, 0, Long.MaxValue)
    val max = values.long(MaxFileSize, math.max(target + 1, target * 18 / 10), 1, Long.MaxValue)
    if (min >= target)
      throw InvalidArgument(s"option $MinFileSize", min.toString, s"It must be less than the target size, $target")
    if (max <= target)
      throw InvalidArgument(s"option $MaxFileSize", max.toString, s"It must be more than the target size, $target")
    val commits = values.int(PartialProgressCommits, 10, 1)
    GroupOptions(
      target,
      min,
      max,
      values.int(MinInputFiles, 5, 1),
      values.flag(RewriteAll, default = false),
      values.long(MaxGroupSize, 100L << 30, 1, Long.MaxValue),
      values.long(MaxGroupFiles, Long.MaxValue, 1, Long.MaxValue),
      values.choice(JobOrder, GroupOrder.all)(_.name).getOrElse(GroupOrder.Unordered),
      if (values.flag(PartialProgressEnabled, default = false)) Some(PartialProgress(commits, commits)) else None,
      values.int(MaxConcurrentGroups, 5, 1)
    )
  }
}
