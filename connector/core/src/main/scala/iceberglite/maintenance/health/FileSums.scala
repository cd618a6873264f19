package iceberglite.maintenance.health

import scala.collection.mutable
import scala.util.hashing.MurmurHash3

import iceberglite.maintenance.compact.{ClusteredFiles, FileGroup, RewriteOptions}
import iceberglite.spec.file.{Content, ContentFile, ManifestContent, ManifestEntry}
import iceberglite.spec.partition.PartitionTuple
import iceberglite.storage.FileIO
import iceberglite.tree.{BoundedEntries, BoundedSums, FilePart, HashRange, MetadataPool, SnapshotFiles}

/**
 * The maximum numbers of sums that are in memory at the same time.
 *
 * @param partitions the number of partitions
 * @param deletes the number of delete files that apply to a single data file
 */
final private[iceberglite] case class HealthLimits(partitions: Int, deletes: Int)

private[iceberglite] object HealthLimits {
  private val BytesPerPartition = 400
  private val BytesPerDelete = 120

  lazy val ofHeap: HealthLimits = HealthLimits(
    partitions = BoundedSums.maxKeys(BytesPerPartition, heapShare = 0.2),
    deletes = BoundedSums.maxKeys(BytesPerDelete, heapShare = 0.1)
  )
}

/**
 * Sums counts and sizes over the files of a snapshot. The parts of the metadata tree (manifests in format versions 1 to
 * 3) are read in parallel in three steps. The first step reads the parts with delete files, so that the numbers of
 * deleted rows of data files are known in the second step. The second step reads the parts with data files. The third
 * step reads the parts with delete files again, to find the delete files that are older than all data files.
 *
 * The memory is bounded by `limits`. If there are more partitions, the steps are repeated, each time for some of the
 * partitions. If there are more delete files, the first two steps are repeated, each time for some of the data files.
 */
final private[health] class FileSums(
    options: RewriteOptions,
    deleteRules: PositionDeleteRules,
    limits: HealthLimits
) {
  import FileSums._

  private var parts = Vector.empty[FilePart]
  private val totals = new TableFileSums
  private val results = new PartitionResults(options, deleteRules)

  /** Sums the files of a tree. This method must be called before the methods that return sums. */
  def read(tree: SnapshotFiles, io: FileIO): Unit = {
    parts = tree.parts
    val (deleteParts, dataParts) = parts.filter(_.hasLiveFiles).partition(_.content == ManifestContent.Deletes)
    val paths = HashRange.divide(deleteParts.iterator.map(_.estimatedLiveFiles).sum, limits.deletes.toLong)
    val entries = new TreeEntries(tree, io)
    val passes = BoundedSums.passes[Key, PartitionFileSums](limits.partitions) { sums =>
      paths.foreach { range =>
        val step = new Step(sums, range, isFirst = range == paths.head)
        entries.chunks(deleteParts)(step.addDeletes)
        entries.chunks(dataParts)(step.addData)
      }
      if (totals.filesOfManyDataFiles > 0) entries.chunks(deleteParts)(addDangling(sums, _))
    }
    passes.foreach(_.iterator.foreach { case ((specId, _), sum) => results.add(specId, sum) })
  }

  /** Returns the sums of the data files. @param clustered the files of a clustered table; absent for other tables */
  def data(clustered: Option[ClusteredFiles]): DataFileHealth = {
    val ofPartitions = results.ofData
    DataFileHealth(
      totals.dataFiles,
      totals.dataBytes,
      totals.records,
      ofPartitions.smallFiles,
      ofPartitions.smallBytes,
      ofPartitions.filesWithManyDeletes,
      ofPartitions.deletedBytes,
      clustered.fold(ofPartitions.rewrite)(files => FileReplacement.of(files.groups, options)),
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
      results.ofDeletes
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

  /**
   * Sums the files of the partitions of a pass, as far as the hash of the path of the data file is in a range.
   *
   * @param paths the range. A delete file that applies to several data files belongs to the first range
   */
  final private class Step(sums: BoundedSums[Key, PartitionFileSums], paths: HashRange, isFirst: Boolean) {

    /** The sums of the delete files that apply to a single data file, by the hash of the data file's path. */
    private val deletesByPath = mutable.LongMap.empty[DeletesOfFile]

    /** Whether the totals of the table do not include the files of this step yet. */
    private val isNew = sums.isFirstPass

    def addDeletes(chunk: Seq[ManifestEntry]): Unit = FileSums.this.synchronized {
      chunk.foreach { entry =>
        val file = entry.file
        val path = file.onlyDataFile.map(hash)
        if (path.fold(isFirst)(contains)) {
          if (isNew) totals.addDelete(file, path.isDefined)
          val isChosen = deleteRules.isChosen(file)
          val before = path.flatMap(deletesByPath.get)
          path.foreach { hash =>
            val deletes = DeletesOfFile(1, file.recordCountOrZero, sizeOf(file), isChosen)
            deletesByPath(hash) = before.fold(deletes)(_ ++ deletes)
          }
          if (isChosen) sums.at(keyOf(file))(new PartitionFileSums)
            .foreach(_.addDelete(file, isOfSameFile = before.exists(_.areRewritten)))
        }
      }
    }

    def addData(chunk: Seq[ManifestEntry]): Unit = {
      val ofTable = new TableFileSums
      val ofPartitions = mutable.LinkedHashMap.empty[Key, PartitionFileSums]
      chunk.foreach { entry =>
        val file = entry.file
        val path = if (paths == HashRange.All && deletesByPath.isEmpty) 0L else hash(file.path)
        if (contains(path)) {
          val deletes = if (deletesByPath.isEmpty) None else deletesByPath.get(path)
          if (isNew) ofTable.addData(entry, deletes)
          val ratio = deletes.fold(0.0)(found => FileGroup.deletedRatio(found.records, file.recordCount))
          val key = keyOf(file)
          if (sums.keeps(key))
            ofPartitions.getOrElseUpdate(key, new PartitionFileSums).addData(entry, ratio, options)
        }
      }
      FileSums.this.synchronized {
        totals.addData(ofTable)
        ofPartitions.foreach { case (key, sum) => sums.at(key)(new PartitionFileSums).foreach(_ ++= sum) }
      }
    }

    private def contains(path: Long): Boolean = paths.contains(path.toInt)
  }

  /**
   * Counts the delete files that do not reference a single data file, and that are older than all data files that they
   * could apply to.
   */
  private def addDangling(sums: BoundedSums[Key, PartitionFileSums], chunk: Seq[ManifestEntry]): Unit = {
    val found = chunk.filter(entry => entry.file.onlyDataFile.isEmpty && isBeforeAll(entry, sums))
    synchronized {
      totals.precedingFiles += found.size
      totals.precedingBytes += found.iterator.map(entry => sizeOf(entry.file)).sum
    }
  }

  /**
   * Returns whether a delete file is older than all data files that it may apply to. A position delete file also
   * applies to data files with its own sequence number, but an equality delete file does not.
   */
  private def isBeforeAll(entry: ManifestEntry, sums: BoundedSums[Key, PartitionFileSums]): Boolean = {
    val (key, file) = (keyOf(entry.file), entry.file)
    val isGlobal = file.partition.values.isEmpty
    def oldest = if (isGlobal) totals.minSequence else sums.get(key).fold(Long.MaxValue)(_.minSequence)
    (if (isGlobal) sums.isFirstPass else sums.keeps(key)) && entry.sequenceNumber.exists { number =>
      if (file.content == Content.EqualityDeletes) number <= oldest else number < oldest
    }
  }
}

private object FileSums {

  /** A partition: the id of the partition spec, and the partition values. */
  type Key = (Int, PartitionTuple)

  /** The number of entries whose sums are added at once. */
  private val ChunkEntries = 256

  private def keyOf(file: ContentFile): Key = (file.specId, file.partition)

  def sizeOf(file: ContentFile): Long = file.contentSizeInBytes.getOrElse(file.fileSizeInBytes)

  /** Returns a hash of 64 bits, so that two of a million paths have the same hash with a probability below 1e-7. */
  def hash(path: String): Long =
    (MurmurHash3.stringHash(path, 1).toLong << 32) |
      (MurmurHash3.stringHash(path, 2) & 0xffffffffL)

  /** Reads the live entries of the parts of a tree. */
  final private class TreeEntries(tree: SnapshotFiles, io: FileIO) {
    private val cached = BoundedEntries.cached(tree, tree.parts)

    /** Reads parts in parallel. @param add is called by several threads */
    def chunks(parts: Vector[FilePart])(add: Seq[ManifestEntry] => Unit): Unit = {
      MetadataPool.map(parts)(part =>
        BoundedEntries.of(part, io, cached).filter(_.isLive).grouped(ChunkEntries).foreach(add)
      )
      ()
    }
  }
}
