package iceberglite.table.action

import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.LongAdder

import scala.collection.JavaConverters._
import scala.util.hashing.MurmurHash3

import iceberglite.spec.file.{Content, ContentFile, Metrics}
import iceberglite.spec.metadata.Snapshot
import iceberglite.tree.{FilePart, MetadataTree, SnapshotFiles, TreeTable}

/**
 * Counts of files and records.
 *
 * @param dataFiles the number of data files
 * @param records the number of records in the data files, including records that delete files remove; a file with an
 *   unknown number of records counts as 0 records
 * @param deleteFiles the number of delete files and deletion vectors
 */
final case class FileTotals(dataFiles: Long, records: Long, deleteFiles: Long)

object FileTotals {
  val Zero: FileTotals = FileTotals(0, 0, 0)
}

/**
 * The difference between the files of two snapshots.
 *
 * @param added the files that only the second snapshot has
 * @param removed the files that only the first snapshot has
 */
final case class SnapshotDifference(added: FileTotals, removed: FileTotals)

/**
 * Compares the live files of two snapshots, which need not be related. Parts of the metadata trees (manifests in format
 * versions 1 to 3) that both snapshots share are not read. About `maxFiles` files are held in memory at a time: if
 * there are more, the parts that are not shared are read several times, each time for a different subset of the paths.
 */
final class SnapshotComparison(table: TreeTable, maxFiles: Int = SnapshotComparison.MaxFiles) {
  import SnapshotComparison._

  /**
   * Returns the difference between two snapshots.
   *
   * @param before absent for a table without a snapshot
   * @throws iceberglite.spec.IcebergError.UnreadableFile if a part of a tree is missing or damaged. The parts of
   *   `after` are read first
   */
  def compare(before: Option[Snapshot], after: Snapshot): SnapshotDifference = {
    val newTree = MetadataTree.at(after, table)
    val newParts = liveParts(newTree)
    val oldTree = before.map(MetadataTree.at(_, table))
    val oldParts = oldTree.fold(Vector.empty[FilePart])(liveParts)
    val shared = newParts.map(_.id).toSet.intersect(oldParts.map(_.id).toSet)
    val (onlyNew, onlyOld) = (newParts.filterNot(p => shared(p.id)), oldParts.filterNot(p => shared(p.id)))
    val (added, removed) = (new Totals, new Totals)
    val shares = math.max(1L, (onlyNew.map(_.estimatedLiveFiles).sum + maxFiles - 1) / maxFiles).toInt
    for (share <- 0 until shares) {
      def isInShare(file: ContentFile) =
        shares == 1 || Math.floorMod(MurmurHash3.stringHash(file.path), shares) == share
      val files = new ConcurrentHashMap[ListedFileKey, ContentFile]
      readFiles(newTree, onlyNew)(file => if (isInShare(file)) files.put(ListedFileKey.of(file), withoutMetrics(file)))
      oldTree.foreach(readFiles(_, onlyOld) { file =>
        if (isInShare(file) && files.remove(ListedFileKey.of(file)) == null) removed.add(file)
      })
      files.values.asScala.foreach(added.add)
    }
    SnapshotDifference(added.result, removed.result)
  }

  private def readFiles(tree: SnapshotFiles, parts: Vector[FilePart])(consume: ContentFile => Unit): Unit = {
    table.pool.map(parts)(part => tree.entries(part).filter(_.isLive).foreach(entry => consume(entry.file)))
    ()
  }
}

object SnapshotComparison {
  private val MaxFiles = 500000

  private def withoutMetrics(file: ContentFile): ContentFile =
    file.copy(metrics = Metrics.Empty, splitOffsets = Vector.empty)

  private def liveParts(tree: SnapshotFiles): Vector[FilePart] = tree.parts.filter(_.hasLiveFiles)

  /** Sums the counts of several threads. */
  final private class Totals {
    private val (dataFiles, records, deleteFiles) = (new LongAdder, new LongAdder, new LongAdder)

    def add(file: ContentFile): Unit =
      if (file.content == Content.Data) {
        dataFiles.increment()
        records.add(file.recordCountOrZero)
      } else deleteFiles.increment()

    def result: FileTotals = FileTotals(dataFiles.sum, records.sum, deleteFiles.sum)
  }
}
