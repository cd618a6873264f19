package iceberglite.maintenance.health

import iceberglite.maintenance.compact.GroupOptions
import iceberglite.spec.FormatVersion
import iceberglite.spec.file.{Content, ContentFile}
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.property.{DeleteGranularity, RowLevelProperty, TableProperty}

/**
 * The rules by which `rewrite_position_delete_files` chooses and writes files.
 *
 * @param options the options of the procedure, with their defaults
 * @param becomeVectors whether position delete files become deletion vectors
 * @param perDataFile whether each new file covers only one data file
 */
final private[health] case class PositionDeleteRules(
    options: GroupOptions,
    becomeVectors: Boolean,
    perDataFile: Boolean
) {

  /**
   * Returns whether a rewrite considers a file, by the rules of
   * [[iceberglite.maintenance.compact.PositionDeleteGroup]].
   */
  def isChosen(file: ContentFile): Boolean =
    file.content == Content.PositionDeletes && !file.isDeletionVector &&
      (becomeVectors || options.isChosen(file.fileSizeInBytes))

  /**
   * Returns the files of a partition that a rewrite would replace. They are counted only if the rewrite would write
   * deletion vectors, or fewer files than it replaces. If each new file covers one data file, a rewrite combines only
   * the delete files of the same data file.
   */
  def replacement(sum: PartitionFileSums): FileReplacement = {
    val isPerFile = becomeVectors || perDataFile
    val newFiles = if (isPerFile) sum.deleteFilesPerDataFile else options.outputFiles(sum.deleteBytes).toLong
    val improves = becomeVectors || newFiles < sum.deleteFiles
    if (sum.deleteFiles > 0 && improves && options.reasonFor(sum.deleteFiles, sum.deleteBytes).isDefined)
      FileReplacement(sum.deleteFiles, sum.deleteBytes, newFiles)
    else FileReplacement.Empty
  }
}

private[health] object PositionDeleteRules {
  def of(metadata: TableMetadata): PositionDeleteRules = PositionDeleteRules(
    GroupOptions.ofPositionDeletes(Map.empty, metadata),
    metadata.formatVersion >= FormatVersion.V3,
    TableProperty.of(RowLevelProperty.Granularity, metadata.properties) == DeleteGranularity.OfFile
  )
}
