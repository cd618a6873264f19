package iceberglite.spark.read

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection
import org.apache.spark.sql.connector.read.{InputPartition, PartitionReader, PartitionReaderFactory}
import org.apache.spark.sql.vectorized.ColumnarBatch
import org.apache.spark.util.SerializableConfiguration

import iceberglite.scan.deletes.DeleteReader
import iceberglite.spark.convert.SparkTypes
import iceberglite.spark.read.deletes.{DeleteCacheSettings, FileDeletes, RemovedRowCounter}
import iceberglite.spark.read.files.{
  BatchSettings,
  FileBatches,
  FileTask,
  FileValues,
  IcebergInputPartition,
  ScanColumns
}
import iceberglite.spark.read.formats.FileReadParameters
import iceberglite.spec.partition.PartitionSpec
import iceberglite.spec.schema.NameMapping
import iceberglite.storage.HadoopFileIO

/** Creates the readers of a scan's tasks on the executors. */
final private[read] class IcebergReaderFactory(
    tableName: String,
    scanColumns: ScanColumns,
    specs: Map[Int, PartitionSpec],
    mapping: Option[NameMapping],
    configuration: Broadcast[SerializableConfiguration],
    settings: BatchSettings,
    deleteCache: DeleteCacheSettings
) extends PartitionReaderFactory {

  override def supportColumnarReads(partition: InputPartition): Boolean = settings.columnar

  override def createColumnarReader(partition: InputPartition): PartitionReader[ColumnarBatch] = batches(partition)

  override def createReader(partition: InputPartition): PartitionReader[InternalRow] =
    new RowReader(batches(partition), UnsafeProjection.create(SparkTypes.toSpark(scanColumns.fields)))

  private def batches(partition: InputPartition): BatchReader = {
    val opener = new FileOpener
    new BatchReader(tasksOf(partition), tableName, opener.open, opener.deletedRows)
  }

  private def tasksOf(partition: InputPartition): Vector[FileTask] = partition match {
    case scanPartition: IcebergInputPartition => scanPartition.tasks
    case other => throw new IllegalArgumentException(s"${other.getClass.getName} is not part of a scan of $tableName")
  }

  /** Opens the data files of one input partition. All these files use the same reader of delete files. */
  final private class FileOpener {
    private val conf = configuration.value.value
    private val io = new HadoopFileIO(conf)
    private val formats = new BatchFormats(conf)
    val deletedRows = new RemovedRowCounter
    private val deleteReader = new DeleteReader(io, specs, mapping, deleteCache.cacheAccess)

    def open(task: FileTask): FileBatches = {
      val deletesOfChangedRows = task.change.flatMap(_.deletesOfChangedRows).map(deleteReader.of(task.path, _))
      val deletes = deleteReader.of(task.path, task.deletes)
      val fileDeletes = new FileDeletes(scanColumns, deletes, deletesOfChangedRows, deletedRows)
      if (fileDeletes.hasNoLiveRow) FileBatches.Empty else openWithDeletes(task, fileDeletes)
    }

    private def openWithDeletes(task: FileTask, fileDeletes: FileDeletes): FileBatches = {
      val columns = fileDeletes.columns
      val values = new FileValues(specs, columns.metadataIds, settings.rows)
      val nonEmptyDeletes = Some(fileDeletes).filterNot(_.isEmpty)
      val fileRead = FileReadParameters(columns.fields, mapping, values, nonEmptyDeletes, settings, conf, io, tableName)
      formats.of(task.format, task.path).open(task, fileRead)
    }
  }
}
