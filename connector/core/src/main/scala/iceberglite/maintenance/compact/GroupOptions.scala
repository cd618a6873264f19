package iceberglite.maintenance.compact

import scala.util.Try

import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.Spelling
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.property.RowLevelProperty.DeleteTargetSize
import iceberglite.spec.property.TableProperty

/** The options that all rewrites of files have, with the names and defaults of Apache Iceberg. */
final case class GroupOptions(
    override val targetFileSize: Long,
    override val minFileSize: Long,
    override val maxFileSize: Long,
    override val minInputFiles: Int,
    override val rewriteAll: Boolean,
    override val maxGroupSize: Long,
    override val maxGroupFiles: Long,
    override val order: GroupOrder,
    override val partialProgress: Option[PartialProgress]
) extends GroupLimits

object GroupOptions {

  private val MaxTargetSize = 1L << 50

  private val MaxConcurrentGroups = "max-concurrent-file-group-rewrites"
  private val PartialProgressEnabled = "partial-progress.enabled"
  private val PartialProgressCommits = "partial-progress.max-commits"
  private val JobOrder = "rewrite-job-order"
  private val TargetFileSize = "target-file-size-bytes"
  private val MinFileSize = "min-file-size-bytes"
  private val MaxFileSize = "max-file-size-bytes"
  private val MinInputFiles = "min-input-files"
  private[compact] val RewriteAll = "rewrite-all"
  private val MaxGroupSize = "max-file-group-size-bytes"
  private val MaxGroupFiles = "max-file-group-input-files"
  private[compact] val PartialProgressFailures = "partial-progress.max-failed-commits"

  /** The options of every rewrite. */
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
   * @throws InvalidArgument an option is unknown or has an invalid value
   */
  def ofPositionDeletes(options: Map[String, String], metadata: TableMetadata): GroupOptions =
    of(new OptionValues(options, names), TableProperty.of(DeleteTargetSize, metadata.properties))

  /** @param defaultTarget the size of new files if there is no option, in bytes */
  private[compact] def of(values: OptionValues, defaultTarget: Long): GroupOptions = {
    val target = values.long(TargetFileSize, defaultTarget, 1, MaxTargetSize)
    val min = values.long(MinFileSize, target * 3 / 4, 0, Long.MaxValue)
    val max = values.long(MaxFileSize, math.max(target + 1, target * 18 / 10), 1, Long.MaxValue)
    if (min >= target)
      throw InvalidArgument(s"option $MinFileSize", min.toString, s"It must be less than the target size, $target")
    if (max <= target)
      throw InvalidArgument(s"option $MaxFileSize", max.toString, s"It must be more than the target size, $target")
    val commits = values.int(PartialProgressCommits, 10, 1)
    // It has no effect, because Spark runs the tasks of all groups together.
    values.int(MaxConcurrentGroups, 1, 1)
    GroupOptions(
      target,
      min,
      max,
      values.int(MinInputFiles, 5, 1),
      values.flag(RewriteAll, default = false),
      values.long(MaxGroupSize, 100L << 30, 1, Long.MaxValue),
      values.long(MaxGroupFiles, Long.MaxValue, 1, Long.MaxValue),
      values.choice(JobOrder, GroupOrder.all)(_.name).getOrElse(GroupOrder.Unordered),
      if (values.flag(PartialProgressEnabled, default = false)) Some(PartialProgress(commits, commits)) else None
    )
  }
}

/**
 * Reads values of options.
 *
 * @param known the names of all options
 * @throws InvalidArgument an option is unknown
 */
final private[compact] class OptionValues(options: Map[String, String], known: Seq[String]) {
  options.keys.find(!known.contains(_)).foreach { key =>
    val similar = Spelling.closest(key, known).fold(s"There are ${known.mkString(", ")}")(k => s"Did you mean $k?")
    throw InvalidArgument("option", key, similar)
  }

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
