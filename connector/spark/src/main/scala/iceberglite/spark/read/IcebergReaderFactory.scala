package iceberglite.spark.read

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.read.{InputPartition, PartitionReader, PartitionReaderFactory}
import org.apache.spark.sql.vectorized.ColumnarBatch
import org.apache.spark.util.SerializableConfiguration

import iceberglite.spark.read.parquet.{FileProjections, ParquetBatches}
import iceberglite.spec.{NameMapping, PartitionSpec}

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
    wanted: WantedColumns,
    specs: Map[Int, PartitionSpec],
    mapping: Option[NameMapping],
    configuration: Broadcast[SerializableConfiguration],
    settings: BatchSettings
) extends PartitionReaderFactory {

  override def supportColumnarReads(partition: InputPartition): Boolean = settings.columnar

  override def createColumnarReader(partition: InputPartition): PartitionReader[ColumnarBatch] = batches(partition)

  override def createReader(partition: InputPartition): PartitionReader[InternalRow] =
    new RowReader(batches(partition))

  private def batches(partition: InputPartition): BatchReader = partition match {
    case IcebergInputPartition(tasks) =>
      val values = new FileValues(specs, wanted.metadataIds, settings.rows)
      val projections = new FileProjections(wanted.fields, mapping, values, tableName)
      val open = (task: FileTask) => ParquetBatches.open(task, projections, configuration.value.value, settings)
      new BatchReader(tasks, tableName, open)
    case other => throw new IllegalArgumentException(s"${other.getClass.getName} is no part of a scan of $tableName")
  }
}
