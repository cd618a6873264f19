package iceberglite.spark.read.files

import java.io.{FileNotFoundException, InterruptedIOException}
import java.nio.channels.ClosedByInterruptException
import java.util.Locale

import scala.util.control.NonFatal

import org.apache.spark.memory.SparkOutOfMemoryError
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.read.{HasPartitionKey, InputPartition}

import iceberglite.data.FileFaults
import iceberglite.encryption.FileKey
import iceberglite.scan.CommitChange
import iceberglite.scan.deletes.DeleteFile
import iceberglite.spec.IcebergError
import iceberglite.spec.IcebergError.UnreadableFile
import iceberglite.spec.expr.Expression
import iceberglite.spec.file.FileFormat
import iceberglite.spec.partition.PartitionTuple

/**
 * A split of a data file to read, with the information that an executor needs.
 *
 * @param start position of the split in the file, in bytes
 * @param length length of the split, in bytes
 * @param filter residual filter of the scan for the rows of this file. The reader uses the filter only to skip rows,
 *   and may return rows that do not match.
 * @param withoutNan ids of the columns of the filter that have no NaN in this file
 * @param firstRowId the row id of the file's first row (version 3)
 * @param deletes the delete files that apply, without metrics
 * @param fileLength length of the whole file, in bytes
 * @param change for a changelog, the change that the rows represent
 * @param key the key of an encrypted file
 */
final private[iceberglite] case class FileTask(
    path: String,
    start: Long,
    length: Long,
    specId: Int,
    partition: PartitionTuple,
    filter: Expression,
    withoutNan: Set[Int],
    firstRowId: Option[Long],
    dataSequenceNumber: Long,
    deletes: Vector[DeleteFile] = Vector.empty,
    format: FileFormat,
    fileLength: Long = 0L,
    change: Option[CommitChange] = None,
    key: Option[FileKey] = None
)

private[iceberglite] object FileTask {

  /** Returns the role of the file, for messages. */
  def role(tableName: String): String = s"data file of table $tableName"

  /**
   * Runs `read`. Errors other than interrupts and [[IcebergError]]s become an [[UnreadableFile]] with the path of the
   * file, also if the file makes Spark's reader request more memory than available; see [[FileFaults.unreadable]]. The
   * role in an [[UnreadableFile]] contains the name of the table.
   */
  def withErrorContext[A](task: FileTask, tableName: String)(read: => A): A =
    try read
    catch {
      case e: UnreadableFile if e.file == task.path && !e.role.contains(tableName) =>
        throw e.copy(role = role(tableName))
      case e: UnreadableFile if task.deletes.exists(_.file.path == e.file) && !e.role.contains(tableName) =>
        throw e.copy(role = s"delete file of table $tableName", reason = withAdvice(e.reason))
      case e: IcebergError => throw e
      case e @ (_: InterruptedException | _: InterruptedIOException | _: ClosedByInterruptException) => throw e
      case e: SparkOutOfMemoryError => throw e
      case e @ FileFaults.Exhausted(_) => FileFaults.unreadable(task.path, e) match {
          case e: UnreadableFile => throw e.copy(role = role(tableName), reason = s"${e.reason}. $OrMoreMemory")
          case other => throw other
        }
      case NonFatal(e) => throw UnreadableFile(task.path, role(tableName), reason(e), Some(e))
    }

  private val OrMoreMemory =
    "If the file is damaged, restore it, or read a snapshot without it; otherwise give the executors more memory"

  private def withAdvice(reason: String): String =
    if (reason.toLowerCase(Locale.ROOT).contains("restore")) reason
    else s"${reason.stripSuffix(".")}. Restore the file, or read a snapshot without it"

  private def reason(e: Throwable): String = e match {
    case _: FileNotFoundException =>
      "The file does not exist, although the table refers to it. Restore the file, or read a snapshot without it"
    case _ => s"${e.getMessage}. If the file is damaged, restore it, or read a snapshot without it"
  }
}

/** The input of one Spark task. */
sealed private[iceberglite] trait IcebergInputPartition extends InputPartition {
  def tasks: Vector[FileTask]
}

private[iceberglite] object IcebergInputPartition {

  /** The files of a task, packed by size. */
  final case class Packed(tasks: Vector[FileTask]) extends IcebergInputPartition

  /**
   * The files of a task, or parts of files, that share one partition key; see
   * [[iceberglite.spark.read.partitioning.KeyGrouping]].
   */
  final case class Grouped(tasks: Vector[FileTask], override val partitionKey: InternalRow)
      extends IcebergInputPartition
      with HasPartitionKey
}
