package iceberglite.spark.maintenance

import java.util.Collections

import scala.annotation.nowarn
import scala.collection.JavaConverters._

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.catalyst.expressions.SortOrder
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, RepartitionByExpression, Sort}
import org.apache.spark.sql.connector.write.{BatchWrite, DataWriterFactory, LogicalWriteInfo, PhysicalWriteInfo}
import org.apache.spark.sql.connector.write.WriterCommitMessage
import org.apache.spark.sql.execution.datasources.v2.WriteToDataSourceV2
import org.apache.spark.sql.iceberglite.Statements
import org.apache.spark.sql.types.{LongType, StructType}
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import iceberglite.maintenance.cluster.ClusterColumns
import iceberglite.maintenance.compact.{FileGroup, PackedFiles, RewriteOptions}
import iceberglite.scan.{FileScanTask, Splits}
import iceberglite.spark.cluster.ClusterJob
import iceberglite.spark.conf.{Settings, WriteAuditPublish, WriteOptions}
import iceberglite.spark.rowlevel.CarryOverColumns
import iceberglite.spark.write.{RowRequirements, TaskWriterFactory, WriteCommit, WritePlan, WriteRequest, WrittenFiles}
import iceberglite.spec.FormatVersion
import iceberglite.spec.file.ContentFile
import iceberglite.spec.metadata.Snapshot
import iceberglite.table.{SnapshotTarget, Table}

/**
 * Writes the rows of file groups to new files, with Spark jobs. The rows keep their row ids and sequence numbers (spec,
 * version 3: "Row Lineage").
 *
 * @param snapshot the snapshot that the groups were planned from
 */
final private[iceberglite] class FileRewriteJob(
    session: SparkSession,
    table: Table,
    snapshot: Snapshot,
    options: RewriteOptions,
    ordering: RowOrdering
) {
  private val lineage =
    if (table.metadata.formatVersion >= FormatVersion.V3) CarryOverColumns.Lineage else Vector.empty

  /** Writes the rows of groups. */
  def run(groups: Vector[FileGroup], writeCommit: WriteCommit): RewrittenFiles = {
    val files = groups.map(_.tasks.size).sum
    val size = ClusterJob.sizeText(groups.map(_.bytes).sum)
    ClusterJob.withDescription(session.sparkContext, s"Rewriting $files data files ($size) of ${table.name}") {
      ordering match {
        case RowOrdering.Kept => pack(groups, writeCommit)
        case RowOrdering.Sorted(ordersOf, partitions) =>
          sorted(groups.flatMap(group => write(splits(group), writeCommit)(sort(_, group, ordersOf, partitions))))
        case RowOrdering.Hilbert(columns, partitions, _) =>
          sorted(groups.flatMap { group =>
            val order = hilbertOrder(columns, group)
            write(splits(group), writeCommit)(sort(_, group, _ => Seq(order), partitions))
          })
      }
    }
  }

  private def sorted(filesOfTasks: Vector[Vector[ContentFile]]): RewrittenFiles =
    RewrittenFiles(filesOfTasks.flatten, packed = Vector.empty)

  /** Writes the rows in their order. A Spark task reads files of one group, so one job can write all groups. */
  private def pack(groups: Vector[FileGroup], writeCommit: WriteCommit): RewrittenFiles = {
    val tasks = groups.flatMap(group => splits(group).map(files => (group, files)))
    val scan = GroupScan.of(session, table, snapshot, tasks.map(_._2))(withLineage)
    val plan = writePlan(scan.readSchema())
    val writers = TaskWriterFactory.of(plan, writeCommit.operationId)
    val written = PackJob.run(session, scan, writers, plan.files.format.acceptsVectors, writeCommit.registerFile)
    // Only rows of one partition are certainly written in the order in which they are read.
    val inOrder = tasks.zip(written).collect {
      case ((group, files), result) if group.partition.isDefined =>
        (files, result)
    }
    RewrittenFiles(written.flatten, PackedFiles.of(inOrder.map(_._1), inOrder.map(_._2)))
  }

  /** Divides the files of a group into the Spark tasks that read them: one for each file to write. */
  private def splits(group: FileGroup): Vector[Vector[FileScanTask]] =
    Splits.evenly(group.tasks, options.group.outputFiles(group.bytes))

  private def hilbertOrder(columns: ClusterColumns, group: FileGroup): SortOrder = {
    val topLevel = columns.paths.map(_.head).toSet
    val rows = read(splits(group), schema => StructType(schema.filter(field => topLevel(field.name))))
    val count = group.tasks.iterator.map(_.file.recordCountOrZero).sum
    HilbertKey.order(session, columns.paths.map(UnresolvedAttribute(_)), rows, count)
  }

  private def sort(
      rows: LogicalPlan,
      group: FileGroup,
      ordersOf: LogicalPlan => Seq[SortOrder],
      partitions: RowOrdering.Partitions
  ): LogicalPlan = {
    val orders = ordersOf(rows)
    val shuffle = RepartitionByExpression(orders, rows, Some(partitions.of(group.bytes, options)))
    session.sessionState.executePlan(Sort(orders, global = false, shuffle)).analyzed
  }

  /** Writes rows with a query. @return the new files of each Spark task */
  @nowarn("cat=deprecation") // The plans that replace it commit to a table; this write only creates files.
  private def write(taskFiles: Vector[Vector[FileScanTask]], writeCommit: WriteCommit)(
      transform: LogicalPlan => LogicalPlan
  ): Vector[Vector[ContentFile]] = {
    val query = transform(read(taskFiles, withLineage))
    val plan = writePlan(query.schema)
    val write = new CollectingWrite(plan, writeCommit)
    Statements.execute(session, WriteToDataSourceV2(None, write, query, Nil))
    write.filesOfTasks.foreach(_.foreach(file => writeCommit.registerFile(file.path)))
    write.filesOfTasks
  }

  private def withLineage(schema: StructType): StructType =
    lineage.foldLeft(schema)((s, f) => s.add(f.name, LongType, nullable = true))

  /** Returns a plan that reads files. @param columns returns the columns to read from all columns of the table */
  private def read(taskFiles: Vector[Vector[FileScanTask]], columns: StructType => StructType): LogicalPlan =
    GroupScan.plan(session, table, snapshot, taskFiles)(columns)

  private def writePlan(rows: StructType): WritePlan = {
    val info = new RewriteInfo(rows, Map(WriteOptions.OutputSpecId.key -> options.outputSpecId.toString))
    val settings = Settings.of(info.options, session, table.properties)
    val target = WriteAuditPublish.Target(SnapshotTarget.Main)
    val plan = WritePlan.of(table, WriteRequest(info, settings, target, session, Nil), lineage)
    plan.copy(
      files = plan.files.copy(targetSize = options.group.writeMaxFileSize),
      // The sort order of the table is not recorded: rows of many partitions are not sorted within each file.
      requirements = RowRequirements.Unspecified
    )
  }
}

/**
 * The new files of a rewrite.
 *
 * @param packed the replaced and the new files whose rows have the same order
 */
final private[maintenance] case class RewrittenFiles(files: Vector[ContentFile], packed: Vector[PackedFiles])

/** The rows of a rewrite, for the checks of ordinary writes. */
final private class RewriteInfo(rows: StructType, writeOptions: Map[String, String]) extends LogicalWriteInfo {
  override def queryId: String = "rewrite"
  override def schema: StructType = rows
  override def options: CaseInsensitiveStringMap =
    new CaseInsensitiveStringMap(if (writeOptions.isEmpty) Collections.emptyMap() else writeOptions.asJava)
}

/** Collects the files that the tasks have written, without a commit. */
final private class CollectingWrite(plan: WritePlan, writeCommit: WriteCommit) extends BatchWrite {
  @volatile private var written = Vector.empty[Vector[ContentFile]]

  /** The new files of each Spark task, in the order in which the task has written them. */
  def filesOfTasks: Vector[Vector[ContentFile]] = written

  override def createBatchWriterFactory(info: PhysicalWriteInfo): DataWriterFactory =
    TaskWriterFactory.of(plan, writeCommit.operationId)

  override def useCommitCoordinator: Boolean = false

  override def commit(messages: Array[WriterCommitMessage]): Unit =
    written = messages.toVector.collect { case files: WrittenFiles => files.files.toVector }

  override def abort(messages: Array[WriterCommitMessage]): Unit = writeCommit.abort(messages)
}
