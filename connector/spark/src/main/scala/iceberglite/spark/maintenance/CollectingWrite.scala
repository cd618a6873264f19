package iceberglite.spark.maintenance

import scala.annotation.nowarn

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.connector.write.{BatchWrite, DataWriterFactory, PhysicalWriteInfo, WriterCommitMessage}
import org.apache.spark.sql.execution.datasources.v2.WriteToDataSourceV2
import org.apache.spark.sql.iceberglite.Statements

import iceberglite.spark.write.{TaskResult, TaskWriterFactory, WriteCommit, WritePlan, WrittenFiles}
import iceberglite.spec.file.ContentFile

/**
 * A batch write whose commit only collects the files that the tasks of a rewrite have written, and does not change the
 * table. The caller removes the files if the rewrite fails.
 */
final private class CollectingWrite(plan: WritePlan, writeCommit: WriteCommit) extends BatchWrite {
  @volatile private var written = Vector.empty[ContentFile]

  override def createBatchWriterFactory(info: PhysicalWriteInfo): DataWriterFactory =
    TaskWriterFactory.of(plan, writeCommit.operationId)

  // Without the coordinator, the files of a task's second attempt, and of a task that ends after its job was cancelled,
  // would not be removed.
  override def useCommitCoordinator: Boolean = true

  override def onDataWriterCommit(message: WriterCommitMessage): Unit = message match {
    case result: TaskResult => result.paths.foreach(writeCommit.registerFile)
    case _ =>
  }

  override def commit(messages: Array[WriterCommitMessage]): Unit =
    written = messages.toVector.collect { case files: WrittenFiles => files.files.toVector }.flatten

  override def abort(messages: Array[WriterCommitMessage]): Unit = ()
}

private[maintenance] object CollectingWrite {

  /** Writes the rows of a query. @return the new files, in the order of the tasks */
  @nowarn("cat=deprecation") // the plans that replace WriteToDataSourceV2 in Spark commit to a table
  def run(session: SparkSession, query: LogicalPlan, plan: WritePlan, writeCommit: WriteCommit): Vector[ContentFile] = {
    val write = new CollectingWrite(plan, writeCommit)
    Statements.execute(session, WriteToDataSourceV2(None, write, query, Nil))
    write.written
  }
}
