package iceberglite.spark.rowlevel

import java.util.UUID

import org.apache.spark.sql.connector.write.{
  DeltaBatchWrite,
  DeltaWriterFactory,
  PhysicalWriteInfo,
  WriterCommitMessage
}

import iceberglite.spark.error.SparkErrors
import iceberglite.spark.write.{CommitOutcome, RowCounts, TaskWriterFactory, UncommittedFiles, WritePlan, WrittenFile}
import iceberglite.spec.file.ContentFile
import iceberglite.spec.property.DeleteFileProperties
import iceberglite.table.{Cleanup, DataLocations}
import iceberglite.table.action.RowDelta

/**
 * The changes of one statement: its tasks create data files and delete files, and the table gets all of them in one
 * commit.
 */
final private[rowlevel] class ChangeBatchWrite(
    statement: RowLevelStatement,
    rows: Option[WritePlan],
    changed: ChangedFiles,
    metadata: ChangeMetadata
) extends DeltaBatchWrite {
  private val table = statement.table
  private val locations = DataLocations.of(table.location, table.properties)

  /** The id in the names of the files of this statement, which no other write uses. */
  private val operationId = UUID.randomUUID().toString
  private val outcome = new CommitOutcome

  /** Delete files that the driver has created. */
  @volatile private var deleteFiles = Vector.empty[String]

  private lazy val deleteTarget = DeleteFileTarget(
    statement.hasVectors,
    statement.granularity,
    statement.deleteFormat,
    statement.deleteTargetSize,
    DeleteFileProperties.of(table.properties),
    locations,
    table.io,
    table.metadata.specsById,
    changed.earlier,
    table.name,
    ChangeBatchWrite.SentBytesOfTask
  )

  override def createBatchWriterFactory(info: PhysicalWriteInfo): DeltaWriterFactory = SparkErrors.in(table.name) {
    val tasks = math.max(1, info.numPartitions)
    val sentBytes = math.min(ChangeBatchWrite.SentBytesOfTask, ChangeBatchWrite.SentBytes / tasks)
    val deletes = deleteTarget.copy(sentBytes = sentBytes)
    new ChangeWriterFactory(rows.map(TaskWriterFactory.of(_, operationId)), deletes, metadata, operationId)
  }

  /**
   * Not needed: attempts of a task use different file names, and only files of the attempt that Spark reports are
   * committed.
   */
  override def useCommitCoordinator: Boolean = false

  override def commit(messages: Array[WriterCommitMessage]): Unit = SparkErrors.in(table.name) {
    val added = for (plan <- rows.toVector; file <- filesOf(messages)) yield plan.contentFile(file)
    val written = changesOf(messages).map(_.deletes)
    val deletes = changed.united(written, deleteTarget, operationId, path => deleteFiles :+= path)
    val counts = changesOf(messages).map(_.counts).foldLeft(RowCounts.Zero)(_ + _)
    val summary = statement.summary ++ counts.summary(statement.command, deletedAreKnown = true)
    val changes = if (added.isEmpty && deletes.isEmpty) None else Some(action(added, deletes))
    if (outcome.commit(statement.base, summary, changes, statement.once, statement.merge.map(_.action)))
      Cleanup.delete(table.io, deletes.replaced)
    else abort(messages)
  }

  private def action(added: Vector[ContentFile], deletes: UnitedDeletes): RowDelta = new RowDelta(
    added ++ deletes.files,
    changed.takenIn(deletes.dataFiles),
    Some(statement.isolation),
    changed.filter,
    rowByRow = statement.isRowByRow,
    deletedFrom = deletes.unnamed,
    to = statement.target.to
  )

  override def abort(messages: Array[WriterCommitMessage]): Unit = if (!outcome.maybeCommitted) {
    val known = filesOf(messages).map(_.path) ++ deletesOf(messages).map(_.file.path) ++ deleteFiles
    UncommittedFiles.remove(table.io, locations, operationId, known.distinct)
  }

  /** Spark has no message for a task that did not finish. */
  private def changesOf(messages: Array[WriterCommitMessage]): Vector[WrittenChanges] =
    messages.toVector.collect { case changes: WrittenChanges => changes }

  private def filesOf(messages: Array[WriterCommitMessage]): Vector[WrittenFile] =
    changesOf(messages).flatMap(_.files)

  private def deletesOf(messages: Array[WriterCommitMessage]): Vector[WrittenDeletes] =
    changesOf(messages).flatMap(_.deletes.files)

  override def toString: String = s"ChangeBatchWrite(table=${table.name}, ${statement.command})"
}

private[rowlevel] object ChangeBatchWrite {

  /** Maximum bytes of deletion vectors that a task sends to the driver. */
  private val SentBytesOfTask = 256L << 10

  /** Maximum bytes of deletion vectors that all tasks together send to the driver. */
  private val SentBytes = 64L << 20
}
