package iceberglite.maintenance.compact

import iceberglite.maintenance.OptionValues
import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.property.TableProperty

/**
 * Options of a rewrite of data files, with the names and defaults of Apache Iceberg.
 *
 * @param group the options of file groups and of file sizes
 * @param deleteFileThreshold the minimum number of delete files for which a data file is rewritten regardless of its
 *   size
 * @param deleteRatioThreshold the minimum ratio of deleted rows for which a data file is rewritten regardless of its
 *   size
 * @param outputSpecId the partition spec of the new files
 * @param maxFiles maximum number of files to rewrite
 * @param keepsSequenceNumber whether the new files get the sequence number of the snapshot that was read, so that later
 *   equality deletes apply to them
 * @param removesDanglingDeletes whether delete files that apply to no data file are removed afterwards
 */
final case class RewriteOptions(
    group: GroupOptions,
    deleteFileThreshold: Int,
    deleteRatioThreshold: Double,
    outputSpecId: Int,
    maxFiles: Option[Int],
    keepsSequenceNumber: Boolean,
    removesDanglingDeletes: Boolean
)

object RewriteOptions {
  private val StartingSequenceNumber = "use-starting-sequence-number"
  private val DeleteFileThreshold = "delete-file-threshold"
  private val DeleteRatioThreshold = "delete-ratio-threshold"
  private val OutputSpecId = "output-spec-id"
  private val RemoveDanglingDeletes = "remove-dangling-deletes"
  private val MaxFiles = "max-files-to-rewrite"

  /** The names of the options of every strategy. */
  val names: Seq[String] = GroupOptions.names ++ Seq(
    GroupOptions.PartialProgressFailures,
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
   * @param strategyNames names of additional options of the strategy
   * @throws iceberglite.spec.IcebergError.InvalidArgument if an option is unknown or has an invalid value
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
    val progress = group.partialProgress.map { partial =>
      partial.copy(maxFailedCommits = values.int(GroupOptions.PartialProgressFailures, partial.maxCommits, 0))
    }
    RewriteOptions(
      group.copy(partialProgress = progress),
      values.int(DeleteFileThreshold, Int.MaxValue, 1),
      values.ratio(DeleteRatioThreshold, 0.3),
      specId,
      values.optional(MaxFiles)(values.int(_, 1, 1)),
      values.flag(StartingSequenceNumber, default = true),
      values.flag(RemoveDanglingDeletes, default = false)
    )
  }
}
