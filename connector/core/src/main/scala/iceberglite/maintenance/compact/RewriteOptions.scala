package iceberglite.maintenance.compact

import scala.util.Try

import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.Spelling
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.property.TableProperty

/** The order in which file groups are rewritten. */
sealed abstract class GroupOrder(val name: String, val ordering: Option[Ordering[FileGroup]])
object GroupOrder {
  case object Unordered extends GroupOrder("none", None)
  case object FewestBytes extends GroupOrder("bytes-asc", Some(Ordering.by(_.bytes)))
  case object MostBytes extends GroupOrder("bytes-desc", Some(Ordering.by(-_.bytes)))
  case object FewestFiles extends GroupOrder("files-asc", Some(Ordering.by(_.tasks.size)))
  case object MostFiles extends GroupOrder("files-desc", Some(Ordering.by(-_.tasks.size)))
  val all: Seq[GroupOrder] = Seq(Unordered, FewestBytes, MostBytes, FewestFiles, MostFiles)
}

/**
 * Commits of parts of a rewrite, so that a failure does not discard all of its work.
 *
 * @param maxCommits the number of commits into which the file groups are divided
 * @param maxFailedCommits the number of commits that may fail before the rewrite fails
 */
final case class PartialProgress(maxCommits: Int, maxFailedCommits: Int)

/**
 * Options of a rewrite of data files, with the names and defaults of Apache Iceberg.
 *
 * @param targetFileSize the desired size of a new file, in bytes
 * @param minFileSize files below this size are rewritten, in bytes
 * @param maxFileSize files above this size are rewritten, in bytes
 * @param minInputFiles the number of files from which a group is rewritten, regardless of its size
 * @param rewriteAll whether all files are rewritten
 * @param maxGroupSize maximum size of a file group in bytes, unless a single file is larger
 * @param maxGroupFiles maximum number of files in a group
 * @param deleteFileThreshold the number of delete files from which a data file is rewritten
 * @param deleteRatioThreshold the ratio of deleted rows from which a data file is rewritten
 * @param outputSpecId the partition spec of the new files
 * @param maxFiles maximum number of files to rewrite
 * @param partialProgress absent for a single commit
 * @param keepsSequenceNumber whether the new files get the sequence number of the snapshot that was read, so that later
 *   equality deletes apply to them
 * @param removesDanglingDeletes whether delete files that apply to no data file are removed afterwards
 */
final case class RewriteOptions(
    targetFileSize: Long,
    minFileSize: Long,
    maxFileSize: Long,
    minInputFiles: Int,
    rewriteAll: Boolean,
    maxGroupSize: Long,
    maxGroupFiles: Long,
    deleteFileThreshold: Int,
    deleteRatioThreshold: Double,
    outputSpecId: Int,
    maxFiles: Option[Int],
    order: GroupOrder,
    partialProgress: Option[PartialProgress],
    keepsSequenceNumber: Boolean,
    removesDanglingDeletes: Boolean
) {

  /** The size at which a writer begins a new file. It is above the target, so that no small last file is written. */
  def writeMaxFileSize: Long = targetFileSize + (maxFileSize - targetFileSize) / 2

  /** Returns the number of files to write for a number of bytes, so that none is much too small or much too large. */
  def outputFiles(bytes: Long): Int = {
    val full = bytes / targetFileSize
    val remainder = bytes % targetFileSize
    val files =
      if (bytes < targetFileSize) 1L
      else if (remainder > minFileSize) full + 1
      else if (bytes / full < math.min(targetFileSize + targetFileSize / 10, writeMaxFileSize)) full
      else full + (if (remainder > 0) 1 else 0)
    math.min(files, RewriteOptions.MaxOutputFiles).toInt
  }
}

object RewriteOptions {

  /** The maximum number of files that a file group is divided into. */
  private val MaxOutputFiles = 100000L

  private val MaxTargetSize = 1L << 50

  private val MaxConcurrentGroups = "max-concurrent-file-group-rewrites"
  private val PartialProgressEnabled = "partial-progress.enabled"
  private val PartialProgressCommits = "partial-progress.max-commits"
  private val PartialProgressFailures = "partial-progress.max-failed-commits"
  private val StartingSequenceNumber = "use-starting-sequence-number"
  private val JobOrder = "rewrite-job-order"
  private val TargetFileSize = "target-file-size-bytes"
  private val MinFileSize = "min-file-size-bytes"
  private val MaxFileSize = "max-file-size-bytes"
  private val MinInputFiles = "min-input-files"
  private val RewriteAll = "rewrite-all"
  private val MaxGroupSize = "max-file-group-size-bytes"
  private val MaxGroupFiles = "max-file-group-input-files"
  private val DeleteFileThreshold = "delete-file-threshold"
  private val DeleteRatioThreshold = "delete-ratio-threshold"
  private val OutputSpecId = "output-spec-id"
  private val RemoveDanglingDeletes = "remove-dangling-deletes"
  private val MaxFiles = "max-files-to-rewrite"

  /** All options of every strategy. */
  val names: Seq[String] = Seq(
    MaxConcurrentGroups,
    PartialProgressEnabled,
    PartialProgressCommits,
    PartialProgressFailures,
    StartingSequenceNumber,
    JobOrder,
    TargetFileSize,
    MinFileSize,
    MaxFileSize,
    MinInputFiles,
    RewriteAll,
    MaxGroupSize,
    MaxGroupFiles,
    DeleteFileThreshold,
    DeleteRatioThreshold,
    OutputSpecId,
    RemoveDanglingDeletes,
    MaxFiles
  )

  /**
   * Parses options.
   *
   * @param strategyNames names of further options, of the strategy
   * @throws InvalidArgument an option is unknown or has an invalid value
   */
  def of(options: Map[String, String], metadata: TableMetadata, strategyNames: Seq[String] = Nil): RewriteOptions = {
    val known = names ++ strategyNames
    options.keys.find(!known.contains(_)).foreach { key =>
      val similar = Spelling.closest(key, known).fold(s"There are ${known.mkString(", ")}")(k => s"Did you mean $k?")
      throw InvalidArgument("option", key, similar)
    }
    val values = new Values(options)
    val target =
      values.long(TargetFileSize, TableProperty.of(TableProperty.TargetFileSize, metadata.properties), 1, MaxTargetSize)
    val min = values.long(MinFileSize, target * 3 / 4, 0, Long.MaxValue)
    val max = values.long(MaxFileSize, math.max(target + 1, target * 18 / 10), 1, Long.MaxValue)
    if (min >= target)
      throw InvalidArgument(s"option $MinFileSize", min.toString, s"It must be less than the target size, $target")
    if (max <= target)
      throw InvalidArgument(s"option $MaxFileSize", max.toString, s"It must be more than the target size, $target")
    val specId = values.int(OutputSpecId, metadata.defaultSpecId, 0)
    if (!metadata.specsById.contains(specId)) throw InvalidArgument(
      s"option $OutputSpecId",
      specId.toString,
      s"The ids of the table's partition specs are ${metadata.specs.map(_.specId).mkString(", ")}"
    )
    val commits = values.int(PartialProgressCommits, 10, 1)
    // It has no effect, because Spark runs the tasks of all groups together.
    values.int(MaxConcurrentGroups, 1, 1)
    RewriteOptions(
      target,
      min,
      max,
      values.int(MinInputFiles, 5, 1),
      values.flag(RewriteAll, default = false),
      values.long(MaxGroupSize, 100L << 30, 1, Long.MaxValue),
      values.long(MaxGroupFiles, Long.MaxValue, 1, Long.MaxValue),
      values.int(DeleteFileThreshold, Int.MaxValue, 1),
      values.ratio(DeleteRatioThreshold, 0.3),
      specId,
      if (options.contains(MaxFiles)) Some(values.int(MaxFiles, 1, 1)) else None,
      values.choice(JobOrder, GroupOrder.all)(_.name).getOrElse(GroupOrder.Unordered),
      if (values.flag(PartialProgressEnabled, default = false))
        Some(PartialProgress(commits, values.int(PartialProgressFailures, commits, 0)))
      else None,
      values.flag(StartingSequenceNumber, default = true),
      values.flag(RemoveDanglingDeletes, default = false)
    )
  }

  /** Reads values of options. */
  final private class Values(options: Map[String, String]) {
    private def read[A](name: String, default: A, hint: String)(parse: String => Option[A]): A =
      options.get(name).fold(default) { text =>
        parse(text.trim).getOrElse(throw InvalidArgument(s"option $name", text, hint))
      }

    def long(name: String, default: Long, min: Long, max: Long): Long =
      read(name, default, s"It must be an integer from $min to $max")(text =>
        Try(text.toLong).toOption.filter(n => n >= min && n <= max)
      )

    def int(name: String, default: Int, min: Int): Int =
      long(name, default.toLong, min.toLong, Int.MaxValue.toLong).toInt

    def ratio(name: String, default: Double): Double =
      read(name, default, "It must be a number above 0 and at most 1")(text =>
        Try(text.toDouble).toOption.filter(r => r > 0 && r <= 1)
      )

    def flag(name: String, default: Boolean): Boolean =
      read(name, default, "It must be true or false")(text => Try(text.toLowerCase.toBoolean).toOption)

    def choice[A](name: String, all: Seq[A])(nameOf: A => String): Option[A] =
      read[Option[A]](name, None, s"It must be one of ${all.map(nameOf).mkString(", ")}")(text =>
        all.find(nameOf(_) == text.toLowerCase).map(Some(_))
      )
  }
}
