package iceberglite.maintenance.compact

import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.metadata.TableMetadata
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
 * Commits of parts of a rewrite, so that a failure does not discard all of its work.
 *
 * @param maxCommits the number of commits into which the file groups are divided
 * @param maxFailedCommits the number of commits that may fail before the rewrite fails
 */
final case class PartialProgress(maxCommits: Int, maxFailedCommits: Int)

/**
 * Options of a rewrite of data files, with the names and defaults of Apache Iceberg.
 *
 * @param deleteFileThreshold the number of delete files from which a data file is rewritten
 * @param deleteRatioThreshold the ratio of deleted rows from which a data file is rewritten
 * @param outputSpecId the partition spec of the new files
 * @param maxFiles maximum number of files to rewrite
 * @param keepsSequenceNumber whether the new files get the sequence number of the snapshot that was read, so that later
 *   equality deletes apply to them
 * @param removesDanglingDeletes whether delete files that apply to no data file are removed afterwards
 */
final case class RewriteOptions(
    override val targetFileSize: Long,
    override val minFileSize: Long,
    override val maxFileSize: Long,
    override val minInputFiles: Int,
    override val rewriteAll: Boolean,
    override val maxGroupSize: Long,
    override val maxGroupFiles: Long,
    deleteFileThreshold: Int,
    deleteRatioThreshold: Double,
    outputSpecId: Int,
    maxFiles: Option[Int],
    override val order: GroupOrder,
    override val partialProgress: Option[PartialProgress],
    keepsSequenceNumber: Boolean,
    removesDanglingDeletes: Boolean
) extends GroupLimits

object RewriteOptions {
  import GroupOptions.{RewriteAll => _, _}

  private val StartingSequenceNumber = "use-starting-sequence-number"

  /** Whether all files are rewritten, whatever their size. */
  val RewriteAll: String = GroupOptions.RewriteAll
  private val DeleteFileThreshold = "delete-file-threshold"
  private val DeleteRatioThreshold = "delete-ratio-threshold"
  private val OutputSpecId = "output-spec-id"
  private val RemoveDanglingDeletes = "remove-dangling-deletes"
  private val MaxFiles = "max-files-to-rewrite"

  /** All options of every strategy. */
  val names: Seq[String] = GroupOptions.names ++ Seq(
    PartialProgressFailures,
    StartingSequenceNumber,
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
    val values = new OptionValues(options, names ++ strategyNames)
    val group = GroupOptions.of(values, TableProperty.of(TableProperty.TargetFileSize, metadata.properties))
    val specId = values.int(OutputSpecId, metadata.defaultSpecId, 0)
    if (!metadata.specsById.contains(specId)) throw InvalidArgument(
      s"option $OutputSpecId",
      specId.toString,
      s"The ids of the table's partition specs are ${metadata.specs.map(_.specId).mkString(", ")}"
    )
    RewriteOptions(
      group.targetFileSize,
      group.minFileSize,
      group.maxFileSize,
      group.minInputFiles,
      group.rewriteAll,
      group.maxGroupSize,
      group.maxGroupFiles,
      values.int(DeleteFileThreshold, Int.MaxValue, 1),
      values.ratio(DeleteRatioThreshold, 0.3),
      specId,
      if (options.contains(MaxFiles)) Some(values.int(MaxFiles, 1, 1)) else None,
      group.order,
      group.partialProgress.map(p => p.copy(maxFailedCommits = values.int(PartialProgressFailures, p.maxCommits, 0))),
      values.flag(StartingSequenceNumber, default = true),
      values.flag(RemoveDanglingDeletes, default = false)
    )
  }
}
