package iceberglite.spark.stream.sink

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.write.streaming.StreamingDataWriterFactory
import org.apache.spark.sql.connector.write.{DataWriter, DataWriterFactory}

/** Creates the writers of a micro-batch's tasks on the executors. Each micro-batch has its own factory. */
final private[sink] class EpochWriterFactory(writers: DataWriterFactory) extends StreamingDataWriterFactory {
  override def createWriter(partitionId: Int, taskId: Long, epochId: Long): DataWriter[InternalRow] =
    writers.createWriter(partitionId, taskId)
}
