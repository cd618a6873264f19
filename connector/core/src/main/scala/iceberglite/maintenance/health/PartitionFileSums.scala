package iceberglite.maintenance.health

import iceberglite.maintenance.compact.RewriteOptions
import iceberglite.spec.file.{Content, ContentFile, ManifestEntry}

/**
 * Sums of the delete files that apply only to one data file.
 *
 * @param records the number of deleted positions
 * @param areRewritten whether a rewrite considers one of the delete files
 */
final private[health] case class DeletesOfFile(files: Int, records: Long, bytes: Long, areRewritten: Boolean) {
  def ++(that: DeletesOfFile): DeletesOfFile =
    DeletesOfFile(files + that.files, records + that.records, bytes + that.bytes, areRewritten || that.areRewritten)
}

/** Sums over all files. The class is not thread-safe. */
final private[health] class TableFileSums {
  var (dataFiles, dataBytes, records) = (0L, 0L, 0L)
  var (positionDeleteFiles, deletedPositions) = (0L, 0L)
  var (equalityDeleteFiles, equalityDeleteRecords, equalityDeleteBytes) = (0L, 0L, 0L)
  var deleteBytes = 0L

  /**
   * The counts and sizes of delete files that reference a single data file, and of those among them whose data file is
   * live.
   */
  var (filesOfOneDataFile, bytesOfOneDataFile, matchedFiles, matchedBytes) = (0L, 0L, 0L, 0L)

  /** The number of delete files that do not reference a single data file. */
  var filesOfManyDataFiles = 0L

  /** The count and size of delete files that are older than all data files that they could apply to. */
  var (precedingFiles, precedingBytes) = (0L, 0L)
  var minSequence: Long = Long.MaxValue

  /** @param isOfOne whether the delete file applies to a single data file */
  def addDelete(file: ContentFile, isOfOne: Boolean): Unit = {
    val size = FileSums.sizeOf(file)
    deleteBytes += size
    if (file.content == Content.EqualityDeletes) {
      equalityDeleteFiles += 1
      equalityDeleteRecords += file.recordCountOrZero
      equalityDeleteBytes += size
    } else {
      positionDeleteFiles += 1
      deletedPositions += file.recordCountOrZero
    }
    if (isOfOne) {
      filesOfOneDataFile += 1
      bytesOfOneDataFile += size
    } else filesOfManyDataFiles += 1
  }

  /** @param deletes the delete files that apply only to this data file */
  def addData(entry: ManifestEntry, deletes: Option[DeletesOfFile]): Unit = {
    dataFiles += 1
    dataBytes += entry.file.fileSizeInBytes
    records += entry.file.recordCountOrZero
    minSequence = math.min(minSequence, entry.sequenceNumber.getOrElse(0L))
    deletes.foreach { found =>
      matchedFiles += found.files
      matchedBytes += found.bytes
    }
  }

  /** Adds the sums of [[addData]]. */
  def addData(that: TableFileSums): Unit = {
    dataFiles += that.dataFiles
    dataBytes += that.dataBytes
    records += that.records
    minSequence = math.min(minSequence, that.minSequence)
    matchedFiles += that.matchedFiles
    matchedBytes += that.matchedBytes
  }
}

/** Sums over the files of a partition. The class is not thread-safe. */
final private[health] class PartitionFileSums {
  var smallFiles = 0L
  var smallBytes = 0L

  /** The files that a rewrite considers: those that are too small or too large, and those with many deletes. */
  var chosenFiles = 0L
  var chosenBytes = 0L

  var filesWithManyDeletes = 0L

  /** The estimated size of the deleted rows in the files with many deletes. */
  var deletedBytes = 0L

  /** The lowest data sequence number of the data files. */
  var minSequence: Long = Long.MaxValue

  /** The position delete files that a rewrite considers. */
  var deleteFiles = 0L
  var deleteBytes = 0L

  /** The number of position delete files after the rewrite if each of them covers one data file. */
  var deleteFilesPerDataFile = 0L

  /** @param deletedRatio the ratio of deleted rows, from 0 to 1 */
  def addData(entry: ManifestEntry, deletedRatio: Double, options: RewriteOptions): Unit = {
    val size = entry.file.fileSizeInBytes
    val hasManyDeletes = deletedRatio >= options.deleteRatioThreshold
    if (size < options.group.minFileSize) {
      smallFiles += 1
      smallBytes += size
    }
    if (options.group.isChosen(size) || hasManyDeletes) {
      chosenFiles += 1
      chosenBytes += size
    }
    if (hasManyDeletes) {
      filesWithManyDeletes += 1
      deletedBytes += (size * deletedRatio).toLong
    }
    minSequence = math.min(minSequence, entry.sequenceNumber.getOrElse(0L))
  }

  /**
   * Adds a position delete file.
   *
   * @param isOfSameFile whether it applies only to a data file to which an added position delete file also applies, so
   *   that a rewrite combines them
   */
  def addDelete(file: ContentFile, isOfSameFile: Boolean): Unit = {
    deleteFiles += 1
    deleteBytes += file.fileSizeInBytes
    if (!isOfSameFile) deleteFilesPerDataFile += 1
  }

  def ++=(that: PartitionFileSums): Unit = {
    smallFiles += that.smallFiles
    smallBytes += that.smallBytes
    chosenFiles += that.chosenFiles
    chosenBytes += that.chosenBytes
    filesWithManyDeletes += that.filesWithManyDeletes
    deletedBytes += that.deletedBytes
    minSequence = math.min(minSequence, that.minSequence)
    deleteFiles += that.deleteFiles
    deleteBytes += that.deleteBytes
    deleteFilesPerDataFile += that.deleteFilesPerDataFile
  }

  /** Returns the data files that a rewrite replaces by the rules of [[iceberglite.maintenance.compact.FileGroup]]. */
  def replacement(options: RewriteOptions): FileReplacement = {
    val hasReason = filesWithManyDeletes > 0 || options.group.reasonFor(chosenFiles, chosenBytes).isDefined
    if (chosenFiles > 0 && hasReason)
      FileReplacement(chosenFiles, chosenBytes, options.group.outputFiles(chosenBytes).toLong)
    else FileReplacement.Empty
  }
}

/** The measures of data files that depend on the sums of each partition. See [[DataFileHealth]]. */
final private[health] case class PartitionMeasures(
    smallFiles: Long,
    smallBytes: Long,
    filesWithManyDeletes: Long,
    deletedBytes: Long,
    rewrite: FileReplacement
) {
  def ++(that: PartitionMeasures): PartitionMeasures = PartitionMeasures(
    smallFiles + that.smallFiles,
    smallBytes + that.smallBytes,
    filesWithManyDeletes + that.filesWithManyDeletes,
    deletedBytes + that.deletedBytes,
    rewrite ++ that.rewrite
  )
}

/** Adds up what maintenance would do in each partition, so that the sums of the partitions need not be kept. */
final private[health] class PartitionResults(options: RewriteOptions, deleteRules: PositionDeleteRules) {
  private var ofOwnSpec = PartitionMeasures(0, 0, 0, 0, FileReplacement.Empty)
  private var deletes = FileReplacement.Empty

  /** The files of other partition specs are rewritten together, because their rows may belong to any partition. */
  private val ofOtherSpecs = new PartitionFileSums

  /** Adds the sums of all files of a partition. */
  def add(specId: Int, sum: PartitionFileSums): Unit = {
    deletes = deletes ++ deleteRules.replacement(sum)
    if (specId == options.outputSpecId) ofOwnSpec = ofOwnSpec ++ measures(sum) else ofOtherSpecs ++= sum
  }

  def ofData: PartitionMeasures = ofOwnSpec ++ measures(ofOtherSpecs)

  def ofDeletes: FileReplacement = deletes

  private def measures(sum: PartitionFileSums): PartitionMeasures = {
    val hasManySmallFiles = sum.smallFiles >= options.group.minInputFiles && sum.smallFiles > 1
    PartitionMeasures(
      if (hasManySmallFiles) sum.smallFiles else 0,
      if (hasManySmallFiles) sum.smallBytes else 0,
      sum.filesWithManyDeletes,
      sum.deletedBytes,
      sum.replacement(options)
    )
  }
}
