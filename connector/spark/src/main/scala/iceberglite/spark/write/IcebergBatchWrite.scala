package iceberglite.spark.write

import java.util.UUID

import org.apache.spark.sql.connector.write.{BatchWrite, DataWriterFactory, PhysicalWriteInfo, WriterCommitMessage}
import org.apache.spark.sql.types.StructType

import iceberglite.spark.error.SparkErrors
import iceberglite.spark.write.files.{DataFileFormat, InputField}
import iceberglite.spark.write.partition.Partitioner
import iceberglite.spec.partition.PartitionSpec
import iceberglite.storage.FileIO
import iceberglite.table.{DataFileNames, DataLocations}

/**
 * The write of one statement: its tasks create data files, and the table gets all of them in one commit.
 *
 * Spark calls [[abort]] after every failure, including a failed commit.
 */
final private[write] class IcebergBatchWrite(plan: WritePlan, mode: WriteMode) extends BatchWrite {

  /** The id in the names of the files of this write, which no other write uses. */
  private val operationId = UUID.randomUUID().toString

  private val outcome = new CommitOutcome

  override def createBatchWriterFactory(info: PhysicalWriteInfo): DataWriterFactory =
    TaskWriterFactory.of(plan, operationId)

  /**
   * Not needed: attempts of a task use different file names, and only files of the attempt that Spark reports are
   * committed.
   */
  override def useCommitCoordinator: Boolean = false

  override def commit(messages: Array[WriterCommitMessage]): Unit = SparkErrors.in(plan.table.name) {
    val files = filesOf(messages).map(plan.contentFile)
    val summary = plan.summary ++ mode.counted(writtenBy(messages).map(_.counts))
    val action = mode.action(files, plan.isolation, plan.to)
    if (!outcome.commit(plan.base, summary, action, plan.once, plan.merge.map(_.action))) abort(messages)
  }

  override def abort(messages: Array[WriterCommitMessage]): Unit =
    if (!outcome.maybeCommitted)
      UncommittedFiles.remove(plan.table.io, plan.locations, operationId, filesOf(messages).map(_.path))

  /** Spark has no message for a task that did not finish. */
  private def filesOf(messages: Array[WriterCommitMessage]): Vector[WrittenFile] =
    writtenBy(messages).flatMap(_.files)

  private def writtenBy(messages: Array[WriterCommitMessage]): Vector[WrittenFiles] =
    messages.toVector.collect { case written: WrittenFiles => written }

  override def toString: String = s"IcebergBatchWrite(table=${plan.table.name}, mode=$mode)"
}

private[iceberglite] object TaskWriterFactory {

  /** Creates the factory. @param operationId the id in the names of the files */
  def of(plan: WritePlan, operationId: String): TaskWriterFactory = new TaskWriterFactory(
    plan.input,
    plan.rows,
    plan.spec,
    plan.requirements.clustered,
    plan.requirements.sorted,
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
    sorted: Boolean,
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
    val files = new TaskFiles(format.newFiles(), locations, spec, names, io, targetSize, sorted, table)
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
