package iceberglite.maintenance.health

import scala.collection.mutable
import scala.util.hashing.MurmurHash3

import iceberglite.maintenance.compact.{ClusteredFiles, FileGroup, RewriteOptions}
import iceberglite.spec.file.{Content, ContentFile, ManifestContent, ManifestEntry}
import iceberglite.spec.partition.PartitionTuple
import iceberglite.tree.{FilePart, MetadataPool, SnapshotFiles}

/**
 * Sums counts and sizes over the files of a snapshot. The parts of the metadata tree (manifests in format versions 1 to
 * 3) are read in parallel in three passes. The first pass reads the parts with delete files, so that the numbers of
 * deleted rows of data files are known in the second pass. The second pass reads the parts with data files. The third
 * pass reads the parts with delete files again, to find the delete files that are older than all data files.
 */
final private[health] class FileSums(options: RewriteOptions, deleteRules: PositionDeleteRules) {
  private var parts = Vector.empty[FilePart]

  /** The sums of the delete files that apply to a single data file, by the hash of the data file's path. */
  private val deletesByPath = mutable.LongMap.empty[DeletesOfFile]
  private val partitions = mutable.HashMap.empty[(Int, PartitionTuple), PartitionFileSums]
  private val totals = new TableFileSums
  private val positionDeletes = new PositionDeleteSums(deleteRules)

  /** Sums the files of a tree. This method must be called before the methods that return sums. */
  def read(tree: SnapshotFiles): Unit = {
    parts = tree.parts
    val (deleteParts, dataParts) = parts.filter(_.hasLiveFiles).partition(_.content == ManifestContent.Deletes)
    forEachPart(tree, deleteParts)(new DeleteSums)(add)
    forEachPart(tree, dataParts)(new PartSums)(add)
    forEachPart(tree, deleteParts)(new DanglingSums)(_.addTo(totals))
  }

  /** Sums the live entries of each part, and combines the sums one after the other. */
  private def forEachPart[A <: EntrySums](tree: SnapshotFiles, of: Vector[FilePart])(empty: => A)(
      combine: A => Unit
  ): Unit = {
    MetadataPool.map(of) { part =>
      val sums = empty
      tree.entries(part).filter(_.isLive).foreach(sums += _)
      synchronized(combine(sums))
    }
    ()
  }

  /** Returns the sums of the data files. @param clustered the files of a clustered table; absent for other tables */
  def data(clustered: Option[ClusteredFiles]): DataFileHealth = {
    val groups = partitions.toVector.groupBy { case ((specId, _), _) => specId == options.outputSpecId }
    val ownSpec = groups.getOrElse(true, Vector.empty).map(_._2)
    // The files of other partition specs are rewritten together, because their rows may belong to any partition.
    val others = groups.getOrElse(false, Vector.empty).map(_._2).reduceOption(_ ++ _)
    val all = ownSpec ++ others
    val withManySmallFiles = all.filter(p => p.smallFiles >= options.group.minInputFiles && p.smallFiles > 1)
    DataFileHealth(
      totals.dataFiles,
      totals.dataBytes,
      totals.records,
      withManySmallFiles.map(_.smallFiles).sum,
      withManySmallFiles.map(_.smallBytes).sum,
      all.map(_.filesWithManyDeletes).sum,
      all.map(_.deletedBytes).sum,
      clustered.map(files => FileReplacement.of(files.groups, options))
        .getOrElse(all.map(_.replacement(options)).foldLeft(FileReplacement.Empty)(_ ++ _)),
      clustered.map(files => ClusterHealth(files.columns, files.degree))
    )
  }

  def deletes: DeleteFileHealth = {
    val withDataFile = totals.filesOfOneDataFile - totals.matchedFiles
    DeleteFileHealth(
      totals.positionDeleteFiles,
      totals.deletedPositions,
      totals.equalityDeleteFiles,
      totals.equalityDeleteRecords,
      totals.equalityDeleteBytes,
      totals.deleteBytes,
      totals.precedingFiles + withDataFile,
      totals.precedingBytes + totals.bytesOfOneDataFile - totals.matchedBytes,
      positionDeletes.rewrite
    )
  }

  /** Returns the sums of the manifests. @param targetBytes the target size of a manifest */
  def manifests(specId: Int, targetBytes: Long): ManifestHealth = {
    val rewrites = parts.filter(_.specId == specId).groupBy(_.content).values.filter(_.size > 1).map { same =>
      val bytes = same.iterator.map(_.length).sum
      FileReplacement(same.size.toLong, bytes, math.max(1L, (bytes + targetBytes - 1) / targetBytes))
    }
    ManifestHealth(
      parts.size.toLong,
      parts.iterator.map(_.length).sum,
      parts.count(_.length < targetBytes / 2).toLong,
      rewrites.foldLeft(FileReplacement.Empty)(_ ++ _)
    )
  }

  private def add(sums: DeleteSums): Unit = {
    totals.positionDeleteFiles += sums.positionDeleteFiles
    totals.deletedPositions += sums.deletedPositions
    totals.equalityDeleteFiles += sums.equalityDeleteFiles
    totals.equalityDeleteRecords += sums.equalityDeleteRecords
    totals.equalityDeleteBytes += sums.equalityDeleteBytes
    totals.deleteBytes += sums.bytes
    positionDeletes ++= sums.small
    sums.byPath.foreach { case (key, deletes) =>
      totals.filesOfOneDataFile += deletes.files
      totals.bytesOfOneDataFile += deletes.bytes
      deletesByPath(key) = deletesByPath.get(key).fold(deletes)(_ ++ deletes)
    }
  }

  private def add(sums: PartSums): Unit = {
    totals.dataFiles += sums.files
    totals.dataBytes += sums.bytes
    totals.records += sums.records
    totals.matchedFiles += sums.matchedFiles
    totals.matchedBytes += sums.matchedBytes
    sums.partitions.foreach { case (key, sum) =>
      partitions(key) = partitions.get(key).fold(sum)(_ ++ sum)
      totals.minSequence = math.min(totals.minSequence, sum.minSequence)
    }
  }

  private def sizeOf(file: ContentFile): Long = file.contentSizeInBytes.getOrElse(file.fileSizeInBytes)

  /** Sums over the entries of one part. */
  sealed private trait EntrySums {
    def +=(entry: ManifestEntry): Unit
  }

  final private class DeleteSums extends EntrySums {
    var (positionDeleteFiles, deletedPositions) = (0L, 0L)
    var (equalityDeleteFiles, equalityDeleteRecords, equalityDeleteBytes) = (0L, 0L, 0L)
    var bytes = 0L
    val byPath = mutable.LongMap.empty[DeletesOfFile]
    val small = new PositionDeleteSums(deleteRules)

    override def +=(entry: ManifestEntry): Unit = {
      val file = entry.file
      val size = sizeOf(file)
      bytes += size
      if (file.content == Content.EqualityDeletes) {
        equalityDeleteFiles += 1
        equalityDeleteRecords += file.recordCountOrZero
        equalityDeleteBytes += size
      } else {
        positionDeleteFiles += 1
        small += file
        deletedPositions += file.recordCountOrZero
        file.onlyDataFile.foreach { path =>
          val (key, deletes) = (FileSums.hash(path), DeletesOfFile(1, file.recordCountOrZero, size))
          byPath(key) = byPath.get(key).fold(deletes)(_ ++ deletes)
        }
      }
    }
  }

  final private class PartSums extends EntrySums {
    var (files, bytes, records) = (0L, 0L, 0L)
    var (matchedFiles, matchedBytes) = (0L, 0L)
    val partitions = mutable.HashMap.empty[(Int, PartitionTuple), PartitionFileSums]

    override def +=(entry: ManifestEntry): Unit = {
      val file = entry.file
      files += 1
      bytes += file.fileSizeInBytes
      records += file.recordCountOrZero
      val deletes = if (deletesByPath.isEmpty) None else deletesByPath.get(FileSums.hash(file.path))
      deletes.foreach { found =>
        matchedFiles += found.files
        matchedBytes += found.bytes
      }
      val deletedRatio = deletes.fold(0.0)(found => FileGroup.deletedRatio(found.records, file.recordCount))
      val sum = PartitionFileSums.of(entry, deletedRatio, options)
      val key = (file.specId, file.partition)
      partitions(key) = partitions.get(key).fold(sum)(_ ++ sum)
    }
  }

  /**
   * Sums of the delete files that do not reference a single data file, and that are older than all data files that they
   * could apply to.
   */
  final private class DanglingSums extends EntrySums {
    private var (files, bytes) = (0L, 0L)

    override def +=(entry: ManifestEntry): Unit = {
      val file = entry.file
      if (file.onlyDataFile.isEmpty && isBeforeAll(entry, oldestData(file))) {
        files += 1
        bytes += sizeOf(file)
      }
    }

    /** Returns the lowest data sequence number of the data files that a delete file may apply to. */
    private def oldestData(file: ContentFile): Long =
      if (file.partition.values.isEmpty) totals.minSequence
      else partitions.get((file.specId, file.partition)).fold(Long.MaxValue)(_.minSequence)

    /**
     * Returns whether a delete file is older than all data files that it may apply to. A position delete file also
     * applies to data files with its own sequence number, but an equality delete file does not.
     */
    private def isBeforeAll(entry: ManifestEntry, oldest: Long): Boolean = entry.sequenceNumber.exists { number =>
      number < oldest || number == oldest && entry.file.content == Content.EqualityDeletes
    }

    def addTo(all: TableFileSums): Unit = {
      all.precedingFiles += files
      all.precedingBytes += bytes
    }
  }
}

private object FileSums {

  /** Returns a hash of 64 bits, so that two of a million paths have the same hash with a probability below 1e-7. */
  def hash(path: String): Long =
    (MurmurHash3.stringHash(path, 1).toLong << 32) | (MurmurHash3.stringHash(path, 2) & 0xffffffffL)
}

/** Sums of the delete files that apply only to one data file. @param records the number of deleted positions */
final private case class DeletesOfFile(files: Int, records: Long, bytes: Long) {
  def ++(that: DeletesOfFile): DeletesOfFile =
    DeletesOfFile(files + that.files, records + that.records, bytes + that.bytes)
}

/** Sums over all files. */
final private class TableFileSums {
  var (dataFiles, dataBytes, records) = (0L, 0L, 0L)
  var (positionDeleteFiles, deletedPositions) = (0L, 0L)
  var (equalityDeleteFiles, equalityDeleteRecords, equalityDeleteBytes) = (0L, 0L, 0L)
  var deleteBytes = 0L

  /**
   * The count and size of delete files that reference a single data file (`OfOneDataFile`), and the count and size of
   * those of these files whose data file is live (`matched`).
   */
  var (filesOfOneDataFile, bytesOfOneDataFile, matchedFiles, matchedBytes) = (0L, 0L, 0L, 0L)

  /** The count and size of delete files that are older than all data files that they could apply to. */
  var (precedingFiles, precedingBytes) = (0L, 0L)
  var minSequence = Long.MaxValue
}

/**
 * Sums over the data files of a partition.
 *
 * @param chosenFiles the number of files that a rewrite considers: those that are too small or too large, and those
 *   with many deletes
 * @param deletedBytes the estimated size of the deleted rows in the files with many deletes
 * @param minSequence the lowest data sequence number
 */
final private case class PartitionFileSums(
    smallFiles: Long,
    smallBytes: Long,
    chosenFiles: Long,
    chosenBytes: Long,
    filesWithManyDeletes: Long,
    deletedBytes: Long,
    minSequence: Long
) {
  def ++(that: PartitionFileSums): PartitionFileSums = PartitionFileSums(
    smallFiles + that.smallFiles,
    smallBytes + that.smallBytes,
    chosenFiles + that.chosenFiles,
    chosenBytes + that.chosenBytes,
    filesWithManyDeletes + that.filesWithManyDeletes,
    deletedBytes + that.deletedBytes,
    math.min(minSequence, that.minSequence)
  )

  /** Returns the files that a rewrite would replace by the rules of [[iceberglite.maintenance.compact.FileGroup]]. */
  def replacement(options: RewriteOptions): FileReplacement = {
    val isWorthwhile = filesWithManyDeletes > 0 || options.group.reasonFor(chosenFiles, chosenBytes).isDefined
    if (isWorthwhile) FileReplacement(chosenFiles, chosenBytes, options.group.outputFiles(chosenBytes).toLong)
    else FileReplacement.Empty
  }
}

private object PartitionFileSums {

  /** @param deletedRatio the ratio of deleted rows, from 0 to 1 */
  def of(entry: ManifestEntry, deletedRatio: Double, options: RewriteOptions): PartitionFileSums = {
    val size = entry.file.fileSizeInBytes
    val hasManyDeletes = deletedRatio >= options.deleteRatioThreshold
    val isSmall = size < options.group.minFileSize
    val isChosen = options.group.isChosen(size) || hasManyDeletes
    PartitionFileSums(
      if (isSmall) 1 else 0,
      if (isSmall) size else 0,
      if (isChosen) 1 else 0,
      if (isChosen) size else 0,
      if (hasManyDeletes) 1 else 0,
      if (hasManyDeletes) (size * deletedRatio).toLong else 0,
      entry.sequenceNumber.getOrElse(0L)
    )
  }
}
