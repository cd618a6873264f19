package iceberglite.spark.write

import org.apache.spark.sql.connector.write.{BatchWrite, DataWriterFactory, PhysicalWriteInfo, WriterCommitMessage}

import iceberglite.spark.error.ErrorBoundary
import iceberglite.spark.write.partition.Partitioner
import iceberglite.spec.partition.SortOrder
import iceberglite.storage.FileIO
import iceberglite.table.DataFileNames

/** The write of one statement. Its tasks create files, and one commit adds all of them to the table. */
final private[write] class IcebergBatchWrite(tasks: WriteTasks) extends BatchWrite with ErrorBoundary {

  private val writeCommit = new WriteCommit(tasks.table)

  override protected def errorName: String = tasks.table.name

  override def createBatchWriterFactory(info: PhysicalWriteInfo): DataWriterFactory =
    in(tasks.writerFactory(writeCommit.operationId))

  /**
   * Returns false, because the attempts of a task use different file names, and the commit adds only the files of the
   * attempt that Spark reports.
   */
  override def useCommitCoordinator: Boolean = false

  override def commit(messages: Array[WriterCommitMessage]): Unit = in {
    writeCommit.commit(messages)(tasks.pending(TaskResult.of(messages), writeCommit))
    ()
  }

  override def abort(messages: Array[WriterCommitMessage]): Unit = in(writeCommit.abort(messages))

  override def toString: String = s"IcebergBatchWrite($tasks)"
}

private[iceberglite] object TaskWriterFactory {

  /**
   * Creates the factory.
   *
   * @param operationId the id of the write, which the names of its files contain
   */
  def of(plan: WritePlan, operationId: String): TaskWriterFactory = new TaskWriterFactory(
    plan.rows,
    plan.files,
    plan.requirements.clustered,
    plan.requirements.sorted,
    plan.table.io,
    operationId,
    plan.table.name
  )
}

/**
 * Creates the writers of a write's tasks on the executors.
 *
 * @param clustered whether the rows of each partition are consecutive
 * @param sorted whether the rows come in the sort order of the files
 * @param table the name of the table, for messages
 */
final private[iceberglite] class TaskWriterFactory private (
    rows: RowsToWrite,
    files: FilesToWrite,
    clustered: Boolean,
    sorted: Boolean,
    io: FileIO,
    operationId: String,
    table: String
) extends DataWriterFactory {

  override def createWriter(partitionId: Int, taskId: Long): TaskWriter = {
    val names = new DataFileNames(partitionId, taskId, operationId, files.format.format.extension)
    val taskFiles = new TaskFiles(files, names, if (sorted) files.sortOrder else SortOrder.Unsorted, io, table)
    val geometries = if (rows.isChecked) GeometryCheck.of(rows) else None
    new TaskWriter(taskFiles, routerTo(taskFiles), rows.changeColumnIndex, rows.check.map(_.newChecker()), geometries)
  }

  private def routerTo(taskFiles: TaskFiles): RowRouter =
    if (files.spec.fields.isEmpty) new SingleRouter(taskFiles)
    else {
      val partitioner = Partitioner.of(files.spec, rows.input)
      if (clustered) new ClusteredRouter(taskFiles, partitioner)
      else {
        val bounds = FanOutBounds.of(files.format.unitSize)
        new FanOutRouter(taskFiles, partitioner, bounds, () => new SparkRowOverflow(rows.schema))
      }
    }
}
