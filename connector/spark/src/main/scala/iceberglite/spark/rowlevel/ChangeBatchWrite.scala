package iceberglite.spark.rowlevel

import org.apache.spark.sql.connector.write.{
  DeltaBatchWrite,
  DeltaWriterFactory,
  PhysicalWriteInfo,
  WriterCommitMessage
}

import iceberglite.spark.error.ErrorBoundary
import iceberglite.spark.write.{CommitForm, RowCounts, TaskWriterFactory, WriteCommit, WritePlan}
import iceberglite.spec.file.ContentFile
import iceberglite.spec.property.DeleteFileProperties
import iceberglite.table.action.RowDelta
import iceberglite.table.action.ReadRows

/**
 * The batch write of one merge-on-read statement. Its tasks create data files and delete files, and one commit adds all
 * of them to the table.
 *
 * @param rowPlan the plan for writing new rows; absent for DELETE
 * @param changedFiles the data files whose rows the statement may change, and their existing deletes
 */
final private[rowlevel] class ChangeBatchWrite(
    statement: RowLevelStatement,
    rowPlan: Option[WritePlan],
    changedFiles: ChangedFiles,
    metadata: ChangeMetadata
) extends DeltaBatchWrite
    with ErrorBoundary {
  private val table = statement.table
  private val writeCommit = new WriteCommit(table)

  override protected def errorName: String = table.name

  private lazy val deleteTarget = DeleteFileTarget(
    deleteForm(ChangeBatchWrite.SentBytesOfTask),
    writeCommit.locations,
    table.io,
    table.metadata.specsById,
    changedFiles.existingDeletes,
    table.name
  )

  private def deleteForm(sentBytes: Long): DeleteForm =
    if (statement.hasVectors) DeleteForm.Vectors(sentBytes)
    else DeleteForm.PositionFiles(
      statement.granularity,
      statement.deleteFormat,
      statement.deleteTargetSize,
      DeleteFileProperties.of(table.properties)
    )

  override def createBatchWriterFactory(info: PhysicalWriteInfo): DeltaWriterFactory = in {
    val tasks = math.max(1, info.numPartitions)
    val sentBytes = math.min(ChangeBatchWrite.SentBytesOfTask, ChangeBatchWrite.SentBytes / tasks)
    val deletes = deleteTarget.copy(form = deleteForm(sentBytes))
    new ChangeWriterFactory(
      rowPlan.map(TaskWriterFactory.of(_, writeCommit.operationId)),
      deletes,
      metadata,
      writeCommit.operationId
    )
  }

  /**
   * Returns false, because the attempts of a task use different file names, and the commit adds only the files of the
   * attempt that Spark reports.
   */
  override def useCommitCoordinator: Boolean = false

  override def commit(messages: Array[WriterCommitMessage]): Unit = in {
    val results = messages.toVector.collect { case changes: WrittenChanges => changes }
    lazy val deletes = changedFiles.mergedDeletes(
      results.map(_.deletes),
      deleteTarget,
      writeCommit.operationId,
      writeCommit.registerFile
    )
    writeCommit.commit(messages) {
      val added = results.flatMap(_.files)
      val changes = if (added.isEmpty && deletes.isEmpty) None else Some(action(added, deletes))
      statement.pending(changes, results.map(_.counts).foldLeft(RowCounts.Zero)(_ + _))
        .copy(form = CommitForm(deletes.replaced, None))
    }
    ()
  }

  private def action(added: Vector[ContentFile], deletes: MergedDeletes): RowDelta = new RowDelta(
    added ++ deletes.files,
    changedFiles.replacedDeletes(deletes.dataFiles),
    Some(statement.isolation),
    ReadRows(changedFiles.filter, isRowByRow = statement.isRowByRow),
    affectedDataFiles = deletes.unreferencedDataFiles,
    to = statement.target.snapshotTarget
  )

  override def abort(messages: Array[WriterCommitMessage]): Unit = in(writeCommit.abort(messages))

  override def toString: String = s"ChangeBatchWrite(table=${table.name}, ${statement.command})"
}

private[rowlevel] object ChangeBatchWrite {

  /** Maximum number of bytes of deletion vectors that a task sends to the driver. */
  private val SentBytesOfTask = 256L << 10

  /** Maximum number of bytes of deletion vectors that all tasks together send to the driver. */
  private val SentBytes = 64L << 20
}
