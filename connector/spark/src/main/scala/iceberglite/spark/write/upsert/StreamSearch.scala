package iceberglite.spark.write.upsert

import scala.util.control.NonFatal

import org.apache.spark.sql.SparkSession
import org.slf4j.LoggerFactory

import iceberglite.maintenance.DeleteConversion
import iceberglite.scan.{FileScanTask, KeyedFiles}
import iceberglite.scan.deletes.DeleteFile
import iceberglite.spark.write.WriteCommit
import iceberglite.spec.IcebergError.UnreadableFile
import iceberglite.spec.expr.Expression
import iceberglite.spec.file.ContentFile
import iceberglite.spec.metadata.Snapshot
import iceberglite.table.Table

/**
 * The rows of a snapshot that an upsert replaces.
 *
 * @param filter a condition that all rows with one of the keys satisfy
 * @param deletes the new delete files, which contain the positions of the rows
 * @param merged the delete files of the snapshot whose positions the new delete files contain
 * @param snapshotId the snapshot; absent if the table has none
 */
final private[upsert] case class ReplacedRows(
    filter: Expression,
    deletes: Vector[ContentFile],
    merged: Vector[ContentFile],
    snapshotId: Option[Long]
)

/**
 * Finds the rows that a micro-batch replaces, if few data files may contain them.
 *
 * @param maxBytes the maximum size of these data files and their earlier delete files, in bytes; 0 for no search
 */
final private[iceberglite] case class StreamSearch(session: SparkSession, maxBytes: Long) {

  private val limit = KeyedFiles.Limit(StreamSearch.MaxPlannedFiles, maxBytes, StreamSearch.OpenCost)

  def isEnabled: Boolean = maxBytes > 0

  /**
   * Finds the rows and writes their positions.
   *
   * @param keys returns the keys of the upsert, as equality delete files that are not committed. The function may read
   *   files of the snapshot. An expiration may have deleted these files
   * @param snapshot the snapshot to search; absent if the table has none
   * @param write the write of the micro-batch
   * @return absent if too many files may contain the keys, or if the snapshot expired during the search
   */
  def replacedBy(
      keys: => Vector[ContentFile],
      table: Table,
      snapshot: Option[Snapshot],
      write: WriteCommit
  ): Option[ReplacedRows] =
    try find(keys, table, snapshot, write)
    catch {
      // An expiration may have deleted files of the snapshot. If the snapshot is still in the table, the table is
      // damaged, which must not stay unnoticed.
      case lost: UnreadableFile if snapshot.exists(hasExpired(_, table, lost)) =>
        StreamSearch.log.info(s"Deleting rows of ${table.name} by key, because a snapshot expired: ${lost.getMessage}")
        None
    }

  /** Whether a snapshot is no longer in the table. If that is unknown, fails with the error of the lost file. */
  private def hasExpired(snapshot: Snapshot, table: Table, lost: UnreadableFile): Boolean =
    try !table.refresh().metadata.hasSnapshot(snapshot.snapshotId)
    catch {
      case NonFatal(failure) =>
        lost.addSuppressed(failure)
        throw lost
    }

  private def find(
      keys: Vector[ContentFile],
      table: Table,
      snapshot: Option[Snapshot],
      write: WriteCommit
  ): Option[ReplacedRows] = {
    val files = new KeyedFiles(table.tree(), snapshot, keys)
    val conversion = DeleteConversion.of(table)
    val planned = files.tasks(limit).map(_.map { task =>
      task.copy(deletes = task.deletes.filter(isRead(task, _, conversion)))
    })
    for (toRead <- planned; if fits(toRead)) yield {
      val description = s"Finding the rows of ${table.name} that a micro-batch replaces, in ${toRead.size} files"
      val found = new DeleteConversionJob(session, table, write).write(toRead, conversion, description)
      val changed = found.flatMap(_.onlyDataFile).toSet
      val merged = toRead.filter(task => changed(task.file.path)).flatMap(_.deletes).filterNot(_.isEquality)
      ReplacedRows(files.filter, found, merged.filter(_.appliesToOneFile).map(_.file), snapshot.map(_.snapshotId))
    }
  }

  /** Whether the data files and the earlier deletes to read are within the limit. The keys are small. */
  private def fits(tasks: Vector[FileScanTask]): Boolean = {
    val data = tasks.iterator.map(limit.sizeOf).sum
    val deletes = tasks.flatMap(_.deletes).filterNot(_.isEquality).map(d => d.location -> d.storedBytes).toMap
    data + deletes.values.sum <= maxBytes
  }

  /**
   * Whether a delete file must be read, because the new delete file of a data file will contain the rows that it
   * deletes. This applies to the delete files with the new keys, and to earlier position deletes that the new delete
   * file replaces. A deletion vector replaces all position deletes of its data file.
   */
  private def isRead(task: FileScanTask, delete: DeleteFile, conversion: DeleteConversion): Boolean =
    delete.isEquality || conversion.files.usesVectors || delete.file.referencedDataFile.contains(task.file.path)
}

private object StreamSearch {
  private val log = LoggerFactory.getLogger("iceberglite.spark.write.upsert.StreamSearch")

  /** The minimum size of a file for the limit of the search, in bytes. It represents the cost of opening the file. */
  private val OpenCost = 1L << 20

  /** The maximum number of files in the parts of the metadata tree that the driver reads to find files. */
  private val MaxPlannedFiles = 10000L
}
