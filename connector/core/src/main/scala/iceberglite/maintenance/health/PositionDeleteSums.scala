package iceberglite.maintenance.health

import scala.collection.mutable

import iceberglite.maintenance.compact.GroupOptions
import iceberglite.spec.FormatVersion
import iceberglite.spec.file.{Content, ContentFile}
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.partition.PartitionTuple
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
}

private[health] object PositionDeleteRules {
  def of(metadata: TableMetadata): PositionDeleteRules = PositionDeleteRules(
    GroupOptions.ofPositionDeletes(Map.empty, metadata),
    metadata.formatVersion >= FormatVersion.V3,
    TableProperty.of(RowLevelProperty.Granularity, metadata.properties) == DeleteGranularity.OfFile
  )
}

/** Sums over the position delete files that a rewrite considers. The class is not thread-safe. */
final private[health] class PositionDeleteSums(rules: PositionDeleteRules) {
  import PositionDeleteSums._

  private val partitions = mutable.HashMap.empty[(Int, PartitionTuple), Sum]

  def +=(file: ContentFile): Unit = if (rules.isChosen(file)) {
    val sum = partitions.getOrElseUpdate((file.specId, file.partition), new Sum)
    sum.files += 1
    sum.bytes += file.fileSizeInBytes
    if (rules.becomeVectors || rules.perDataFile) file.onlyDataFile match {
      case Some(path) => sum.dataFiles += FileSums.hash(path)
      case None => sum.ofManyDataFiles += 1
    }
  }

  def ++=(that: PositionDeleteSums): Unit = that.partitions.foreach { case (key, sum) =>
    val own = partitions.getOrElseUpdate(key, new Sum)
    own.files += sum.files
    own.bytes += sum.bytes
    own.ofManyDataFiles += sum.ofManyDataFiles
    own.dataFiles ++= sum.dataFiles
  }

  /**
   * Returns the files that a rewrite would replace. The files of a partition are counted only if the rewrite would
   * write deletion vectors, or fewer files than it replaces. If each new file covers one data file, a rewrite combines
   * only the delete files of the same data file.
   */
  def rewrite: FileReplacement = partitions.valuesIterator.map(replacement).foldLeft(FileReplacement.Empty)(_ ++ _)

  private def replacement(sum: Sum): FileReplacement = {
    val newFiles =
      if (rules.becomeVectors || rules.perDataFile) sum.dataFiles.size + sum.ofManyDataFiles
      else rules.options.outputFiles(sum.bytes).toLong
    val improves = rules.becomeVectors || newFiles < sum.files
    if (improves && rules.options.reasonFor(sum.files, sum.bytes).isDefined)
      FileReplacement(sum.files, sum.bytes, newFiles)
    else FileReplacement.Empty
  }
}

private object PositionDeleteSums {

  /** Sums over the files of a partition. */
  final private class Sum {
    var (files, bytes, ofManyDataFiles) = (0L, 0L, 0L)

    /**
     * Hashes of the paths of data files. The set contains a data file if a delete file applies only to this data file.
     */
    val dataFiles = mutable.HashSet.empty[Long]
  }
}
