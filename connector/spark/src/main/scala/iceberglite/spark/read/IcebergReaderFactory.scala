package iceberglite.spark.read

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection
import org.apache.spark.sql.connector.read.{InputPartition, PartitionReader, PartitionReaderFactory}
import org.apache.spark.sql.vectorized.ColumnarBatch
import org.apache.spark.util.SerializableConfiguration

import iceberglite.io.HadoopFileIO
import iceberglite.scan.{DeleteReader, FileScanTask, TableRows}
import iceberglite.spark.convert.SparkTypes
import iceberglite.spark.read.deletes.FileDeletes
import iceberglite.spark.read.parquet.{FileProjections, ParquetBatches}
import iceberglite.spark.read.rows.{ReadersInTurn, RecordReader, RecordRows}
import iceberglite.spec.{FileFormat, NameMapping, PartitionSpec, Schema}

/**
 * How batches are read.
 *
 * @param columnar whether Spark gets batches; rows otherwise
 * @param rows the most rows of a batch
 */
final private[read] case class BatchSettings(columnar: Boolean, rows: Int, offHeap: Boolean)

/** Makes the readers of a scan's tasks, on the executors. */
final private[read] class IcebergReaderFactory(
    tableName: String,
    schema: Schema,
    wanted: WantedColumns,
    specs: Map[Int, PartitionSpec],
    mapping: Option[NameMapping],
    configuration: Broadcast[SerializableConfiguration],
    settings: BatchSettings
) extends PartitionReaderFactory {

  override def supportColumnarReads(partition: InputPartition): Boolean = settings.columnar

  override def createColumnarReader(partition: InputPartition): PartitionReader[ColumnarBatch] = batches(partition)

  override def createReader(partition: InputPartition): PartitionReader[InternalRow] = {
    val open = new OpenFiles
    new ReadersInTurn(tasksOf(partition).iterator.map { task =>
      if (task.format == FileFormat.Parquet) open.batchRows(task) else open.rows(task)
    })
  }

  private def batches(partition: InputPartition): BatchReader = {
    val open = new OpenFiles
    new BatchReader(tasksOf(partition), tableName, open.batches)
  }

  private def tasksOf(partition: InputPartition): Vector[FileTask] = partition match {
    case IcebergInputPartition(tasks) => tasks
    case other => throw new IllegalArgumentException(s"${other.getClass.getName} is no part of a scan of $tableName")
  }

  /** Opens the files of one partition; what is read of delete files serves all of them. */
  final private class OpenFiles {
    private val conf = configuration.value.value
    private val io = new HadoopFileIO(conf)
    private val deletes = new DeleteReader(io, specs, mapping)

    def batches(task: FileTask): ParquetBatches = {
      val fileDeletes = new FileDeletes(wanted, deletes.of(task.path, task.deletes))
      val columns = fileDeletes.columns
      val values = new FileValues(specs, columns.metadataIds, settings.rows)
      val projections = new FileProjections(columns.fields, mapping, values, tableName)
      ParquetBatches.open(task, projections, conf, settings, Some(fileDeletes).filterNot(_.isEmpty))
    }

    private lazy val copyRow = UnsafeProjection.create(SparkTypes.toSpark(wanted.fields))

    def batchRows(task: FileTask): RowReader =
      new RowReader(new BatchReader(Vector(task), tableName, batches), copyRow)

    private lazy val tableRows = new TableRows(io, specs, mapping, schema, wanted.fields, filtered = false)
    private lazy val toRow = RecordRows.of(wanted.fields)

    def rows(task: FileTask): RecordReader = {
      val whole = FileScanTask.whole(task.file, task.dataSequenceNumber, specs(task.specId), task.filter)
      new RecordReader(task, tableName, toRow, tableRows.of(whole.copy(deletes = task.deletes)))
    }
  }
}
