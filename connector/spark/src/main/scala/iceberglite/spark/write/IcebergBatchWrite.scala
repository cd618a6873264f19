package iceberglite.spark.write

import org.apache.spark.sql.connector.write.{BatchWrite, DataWriterFactory, PhysicalWriteInfo, WriterCommitMessage}
import org.apache.spark.sql.types.StructType

import iceberglite.spark.write.files.{DataFileFormat, InputField}
import iceberglite.spark.write.partition.Partitioner
import iceberglite.spec.partition.{PartitionSpec, SortOrder}
import iceberglite.storage.FileIO
import iceberglite.table.{DataFileNames, DataLocations}

/** The write of one statement: its tasks create data files, and the table gets all of them in one commit. */
final private[write] class IcebergBatchWrite(plan: WritePlan, mode: WriteMode) extends BatchWrite {

  private val ending = new WriteCommit(plan.table)

  override def createBatchWriterFactory(info: PhysicalWriteInfo): DataWriterFactory =
    TaskWriterFactory.of(plan, ending.operationId)

  /**
   * Not needed: attempts of a task use different file names, and only files of the attempt that Spark reports are
   * committed.
   */
  override def useCommitCoordinator: Boolean = false

  override def commit(messages: Array[WriterCommitMessage]): Unit = {
    val written = messages.toVector.collect { case files: WrittenFiles => files }
    ending.commit(messages) {
      val action = mode.action(written.flatMap(_.files), plan.isolation, plan.to)
      plan.pending(action, mode.counted(written.map(_.counts)))
    }
    ()
  }

  override def abort(messages: Array[WriterCommitMessage]): Unit = ending.abort(messages)

  override def toString: String = s"IcebergBatchWrite(table=${plan.table.name}, mode=$mode)"
}

private[iceberglite] object TaskWriterFactory {

  /** Creates the factory. @param operationId the id in the names of the files */
  def of(plan: WritePlan, operationId: String): TaskWriterFactory = new TaskWriterFactory(
    plan.input,
    plan.rows,
    plan.spec,
    plan.requirements.clustered,
    if (plan.requirements.sorted) plan.sortOrder.orderId else SortOrder.Unsorted.orderId,
    plan.format,
    plan.locations,
    plan.table.io,
    operationId,
    plan.targetSize,
    plan.changeAt,
    plan.table.name
  )
}

/** Creates the writers of a write's tasks on the executors. */
final private[iceberglite] class TaskWriterFactory private (
    input: Vector[InputField],
    rows: StructType,
    spec: PartitionSpec,
    clustered: Boolean,
    sortOrderId: Int,
    format: DataFileFormat,
    locations: DataLocations,
    io: FileIO,
    operationId: String,
    targetSize: Long,
    changeAt: Option[Int],
    table: String
) extends DataWriterFactory {

  override def createWriter(partitionId: Int, taskId: Long): TaskWriter = {
    val names = new DataFileNames(partitionId, taskId, operationId, format.format.extension)
    val files = new TaskFiles(format.newFiles(), locations, spec, names, io, targetSize, sortOrderId, table)
    new TaskWriter(files, routerTo(files), changeAt)
  }

  private def routerTo(files: TaskFiles): RowRouter =
    if (spec.fields.isEmpty) new SingleRouter(files)
    else {
      val partitioner = Partitioner.of(spec, input)
      if (clustered) new ClusteredRouter(files, partitioner)
      else new FanOutRouter(files, partitioner, FanOutBounds.of(format.unitSize), () => new SparkRowOverflow(rows))
    }
}
