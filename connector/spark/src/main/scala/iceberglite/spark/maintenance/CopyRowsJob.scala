package iceberglite.spark.maintenance

import scala.util.control.NonFatal

import org.apache.spark.rdd.RDD
import org.apache.spark.{Partition, TaskContext}
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.SQLExecution
import org.apache.spark.sql.execution.datasources.v2.DataSourceRDD
import org.apache.spark.sql.iceberglite.{TaskCommit, TaskInput}
import org.apache.spark.sql.vectorized.ColumnarBatch

import iceberglite.spark.cluster.{ClusterJob, WritingJob}
import iceberglite.data.{FileToCopy, InheritedLineage}
import iceberglite.scan.FileScanTask
import iceberglite.spark.write.{TaskWriter, TaskWriterFactory, WrittenFiles}
import iceberglite.spec.file.{ContentFile, FileFormat}
import iceberglite.spec.partition.PartitionTuple

/**
 * Copies the rows of files to new files in the same order: column by column where possible, and otherwise row by row.
 * If rows are copied row by row, the writer can read the values directly from the vectors of the reader. This avoids
 * the conversion to Spark's rows, which takes about a quarter of the time of the copy.
 */
private[maintenance] object CopyRowsJob {

  /**
   * Writes the rows that each Spark task of a scan reads. If this fails or is interrupted, the running tasks are
   * cancelled, and the method waits for their end before it throws the error, as [[WritingJob]] does.
   *
   * @param asVectors whether the writer reads values from vectors, instead of from Spark's rows
   * @param copies for each Spark task of the scan, the files whose rows may be copied column by column
   * @param registerFile called with the path of each new file when its task has succeeded, even if the job fails later
   * @return the new files of each Spark task
   */
  def run(
      session: SparkSession,
      scan: RewriteScan,
      writers: TaskWriterFactory,
      copies: Vector[Option[FilesToCopy]],
      asVectors: Boolean,
      registerFile: String => Unit
  ): Vector[Vector[ContentFile]] = {
    val context = session.sparkContext
    val batch = scan.toBatch
    val partitions = batch.planInputPartitions()
    val readers = batch.createReaderFactory()
    val isColumnar = asVectors && partitions.forall(readers.supportColumnarReads(_))
    val rows = new DataSourceRDD(context, partitions.map(Seq(_)).toSeq, readers, isColumnar, Map.empty)
    val written = Array.fill(partitions.length)(Vector.empty[ContentFile])
    def addResult(partition: Int, result: Array[Byte]): Unit = {
      written(partition) = ClusterJob.deserialize[Vector[ContentFile]](result)
      written(partition).foreach(file => registerFile(file.path))
    }
    SQLExecution.withSQLConfPropagated(session) {
      val tasks = new CopyRowsRdd(rows, copies, writers)
      val run = (_: TaskContext, results: Iterator[Array[Byte]]) => results.next()
      ClusterJob.withTaskErrors(WritingJob.run(context, tasks, run)(addResult))
    }
    written.toVector
  }
}

/**
 * The files of a Spark task whose rows may be copied column by column, see [[FilesToCopy.of]].
 *
 * @param partition the partition tuple that all rows of the files have
 * @param bytes the sum of the lengths of the files in bytes
 * @param records the sum of the known record counts of the files; some writers store a negative count if the count is
 *   unknown
 */
final private[maintenance] case class FilesToCopy(
    files: Vector[FileToCopy],
    partition: PartitionTuple,
    bytes: Long,
    records: Long
)

private[maintenance] object FilesToCopy {

  /**
   * Returns the files of a Spark task; absent if the files cannot be copied column by column: if rows are deleted or
   * not read, if a file is encrypted or its format differs from that of the new files, or if a file has no first row id
   * although the new files store row ids.
   *
   * @param hasLineage whether the new files store row ids and sequence numbers
   */
  def of(
      tasks: Vector[FileScanTask],
      partition: PartitionTuple,
      format: FileFormat,
      hasLineage: Boolean
  ): Option[FilesToCopy] = {
    val isComplete = tasks.forall { task =>
      task.isWholeFile && task.deletes.isEmpty && task.file.format == format && task.file.keyMetadata.isEmpty &&
      (!hasLineage || task.file.firstRowId.isDefined)
    }
    if (isComplete) {
      val files = tasks.map(task => FileToCopy(task.file.path, lineageOf(task, hasLineage)))
      val records = tasks.map(_.file).filter(_.hasRecordCount).map(_.recordCount).sum
      Some(FilesToCopy(files, partition, tasks.map(_.file.fileSizeInBytes).sum, records))
    } else None
  }

  private def lineageOf(task: FileScanTask, hasLineage: Boolean): Option[InheritedLineage] =
    task.file.firstRowId.filter(_ => hasLineage).map(InheritedLineage(_, task.dataSequenceNumber))
}

/**
 * An RDD whose tasks write the new files. Each element is the serialized metadata of the files that one task has
 * written.
 *
 * @param rows the rows, which are read only if they cannot be copied
 */
final private class CopyRowsRdd(
    rows: RDD[InternalRow],
    @transient copies: Vector[Option[FilesToCopy]],
    writers: TaskWriterFactory
) extends RDD[Array[Byte]](rows) {
  override protected def getPartitions: Array[Partition] =
    rows.partitions.map(partition => PackPartition(partition, copies(partition.index)))

  override def getPreferredLocations(split: Partition): Seq[String] = split match {
    case PackPartition(rowsOfTask, _) => rows.preferredLocations(rowsOfTask)
  }

  override def compute(split: Partition, context: TaskContext): Iterator[Array[Byte]] = split match {
    case PackPartition(rowsOfTask, copy) =>
      val writer = writers.createWriter(context.partitionId(), context.taskAttemptId())
      try {
        copy.filter(files => writer.copy(files.files, files.partition)) match {
          case Some(copied) => TaskInput.add(copied.bytes, copied.records)
          case None => writeRows(rowsOfTask, context, writer)
        }
        TaskCommit.require(context)
        writer.commit() match {
          case written: WrittenFiles => Iterator.single(ClusterJob.serialize(written.files.toVector))
          case other => throw new IllegalStateException(s"Unexpected result of a task writer: $other")
        }
      } catch {
        case e: Throwable =>
          try writer.abort()
          catch { case NonFatal(suppressed) => e.addSuppressed(suppressed) }
          throw e
      } finally writer.close()
  }

  private def writeRows(rowsOfTask: Partition, context: TaskContext, writer: TaskWriter): Unit =
    // The elements are `ColumnarBatch` objects if the files are read as vectors, and rows otherwise.
    rows.iterator(rowsOfTask, context).asInstanceOf[Iterator[Any]].foreach {
      case batch: ColumnarBatch => batch.rowIterator.forEachRemaining(row => writer.write(row))
      case row => writer.write(row.asInstanceOf[InternalRow])
    }
}

final private case class PackPartition(rowsOfTask: Partition, copy: Option[FilesToCopy]) extends Partition {
  override def index: Int = rowsOfTask.index
}
