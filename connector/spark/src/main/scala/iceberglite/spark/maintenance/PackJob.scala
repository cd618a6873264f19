package iceberglite.spark.maintenance

import scala.util.control.NonFatal

import org.apache.spark.TaskContext
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.write.DataWriterFactory
import org.apache.spark.sql.execution.SQLExecution
import org.apache.spark.sql.execution.datasources.v2.DataSourceRDD
import org.apache.spark.sql.vectorized.ColumnarBatch

import iceberglite.spark.cluster.ClusterJob
import iceberglite.spark.write.WrittenFiles
import iceberglite.spec.file.ContentFile

/**
 * Copies the rows of files to new files in the same order. The writer reads the values from the vectors of the reader,
 * because converting vectors to Spark's rows takes about a quarter of the time of a copy.
 */
private[maintenance] object PackJob {

  /**
   * Writes the rows that each Spark task of a scan reads.
   *
   * @param asVectors whether the writer reads values from vectors, instead of from Spark's rows
   * @param registerFile called with the path of each new file, even if the job fails later
   * @return the new files of each Spark task
   */
  def run(
      session: SparkSession,
      scan: GroupScan,
      writers: DataWriterFactory,
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
      ClusterJob.withTaskErrors(context.runJob(rows, writeTask(writers), partitions.indices, addResult _))
    }
    written.toVector
  }

  private def writeTask(writers: DataWriterFactory): (TaskContext, Iterator[InternalRow]) => Array[Byte] = {
    (context, rows) =>
      val writer = writers.createWriter(context.partitionId, context.taskAttemptId)
      try {
        // The elements are `ColumnarBatch` objects if the files are read as vectors, and rows otherwise.
        rows.asInstanceOf[Iterator[Any]].foreach {
          case batch: ColumnarBatch => batch.rowIterator.forEachRemaining(row => writer.write(row))
          case row => writer.write(row.asInstanceOf[InternalRow])
        }
        writer.commit() match {
          case written: WrittenFiles => ClusterJob.serialize(written.files.toVector)
          case other => throw new IllegalStateException(s"Unexpected result of a task writer: $other")
        }
      } catch {
        case e: Throwable =>
          try writer.abort()
          catch { case NonFatal(suppressed) => e.addSuppressed(suppressed) }
          throw e
      } finally writer.close()
  }
}
