package iceberglite.spark.write.upsert

import org.apache.spark.sql.SparkSession

import iceberglite.maintenance.DeleteConversion
import iceberglite.scan.{FileScanTask, KeyedFiles}
import iceberglite.scan.deletes.DeleteFile
import iceberglite.spark.write.WriteCommit
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
 * @param maxBytes the maximum size of these files, in bytes
 */
final private[iceberglite] case class StreamSearch(session: SparkSession, maxBytes: Long) {

  /**
   * Finds the rows and writes their positions.
   *
   * @param keys the keys of the upsert, as equality delete files that are not committed
   * @param snapshot the snapshot to search; absent if the table has none
   * @param write the write of the micro-batch
   * @return absent if too many files may contain the keys
   */
  def replacedBy(
      keys: Vector[ContentFile],
      table: Table,
      snapshot: Option[Snapshot],
      write: WriteCommit
  ): Option[ReplacedRows] = {
    val files = new KeyedFiles(table.tree(), snapshot, keys)
    val conversion = DeleteConversion.of(table)
    for (tasks <- if (maxBytes > 0) files.tasks(StreamSearch.MaxPlannedFiles) else None; if fits(tasks)) yield {
      val toRead = tasks.map(task => task.copy(deletes = task.deletes.filter(isRead(task, _, conversion))))
      val description = s"Finding the rows of ${table.name} that a micro-batch replaces, in ${tasks.size} files"
      val found = new DeleteConversionJob(session, table, write).write(toRead, conversion, description)
      val changed = found.flatMap(_.onlyDataFile).toSet
      val merged = toRead.filter(task => changed(task.file.path)).flatMap(_.deletes).filterNot(_.isEquality)
      ReplacedRows(files.filter, found, merged.filter(_.appliesToOneFile).map(_.file), snapshot.map(_.snapshotId))
    }
  }

  private def fits(tasks: Vector[FileScanTask]): Boolean =
    tasks.iterator.map(task => math.max(task.length, StreamSearch.OpenCost)).sum <= maxBytes

  /**
   * Whether the new delete file of a data file contains the rows of a delete file: those of the new keys, and those of
   * earlier position deletes that it replaces. A deletion vector replaces all position deletes of its data file.
   */
  private def isRead(task: FileScanTask, delete: DeleteFile, conversion: DeleteConversion): Boolean =
    delete.isEquality || conversion.files.usesVectors || delete.file.referencedDataFile.contains(task.file.path)
}

private object StreamSearch {

  /** The minimum size of a file for the limit of the search, in bytes. It represents the cost of opening the file. */
  private val OpenCost = 1L << 20

  /** The maximum number of files in the parts of the metadata tree that the driver reads to find files. */
  private val MaxPlannedFiles = 10000L
}
