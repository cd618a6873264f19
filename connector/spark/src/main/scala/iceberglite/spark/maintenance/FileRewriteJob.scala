package iceberglite.spark.maintenance

import java.util.Collections

import scala.collection.JavaConverters._

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, SortOrder}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, RepartitionByExpression, Sort}
import org.apache.spark.sql.connector.write.LogicalWriteInfo
import org.apache.spark.sql.execution.LogicalRDD
import org.apache.spark.sql.types.{LongType, StructType}
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import iceberglite.maintenance.cluster.ClusterColumns
import iceberglite.maintenance.compact.{FileGroup, PackedFiles, RewriteOptions}
import iceberglite.scan.{FileScanTask, Splits}
import iceberglite.spark.cluster.ClusterJob
import iceberglite.spark.conf.{Settings, WriteAuditPublish, WriteOptions}
import iceberglite.spark.rowlevel.CarryOverColumns
import iceberglite.spark.write.{RowRequirements, TaskWriterFactory, WriteCommit, WritePlan, WriteRequest}
import iceberglite.spec.FormatVersion
import iceberglite.spec.file.ContentFile
import iceberglite.spec.metadata.Snapshot
import iceberglite.table.{SnapshotTarget, Table}

/**
 * Writes the rows of file groups to new files, with Spark jobs. The rows keep their row ids and sequence numbers (spec,
 * version 3: "Row Lineage").
 *
 * @param snapshot the snapshot from which the groups were planned
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

  private val outputSpec = table.metadata.specsById(options.outputSpecId)

  /**
   * Writes the rows of groups. One Spark job writes all groups whose rows keep their order. Each other group is written
   * by its own job with a shuffle; several of these jobs run at the same time.
   */
  def run(groups: Vector[FileGroup], writeCommit: WriteCommit): RewrittenFiles = {
    val files = groups.map(_.tasks.size).sum
    val size = ClusterJob.sizeText(groups.map(_.bytes).sum)
    ClusterJob.withDescription(session.sparkContext, s"Rewriting $files data files ($size) of ${table.name}") {
      val (inOrder, shuffled) = groups.partition(keepsOrder)
      val packed = if (inOrder.isEmpty) RewrittenFiles.Empty else pack(inOrder, writeCommit)
      val written = ConcurrentSteps.map(session, shuffled, options.group.maxConcurrentGroups)(shuffle(_, writeCommit))
      RewrittenFiles(packed.files ++ written.flatten, packed.packed)
    }
  }

  /**
   * Returns whether rows are written in the order of the old files, without a shuffle. If rows of a group may belong to
   * many partitions, the group is shuffled, because otherwise each task would write files of many partitions.
   */
  private def keepsOrder(group: FileGroup): Boolean =
    ordering == RowOrdering.Kept && (group.partition.isDefined || !RewriteSortOrders.hasTerms(table.schema, outputSpec))

  /**
   * Writes the rows in the order of the old files. A Spark task reads files of only one group, so one job can write all
   * groups.
   */
  private def pack(groups: Vector[FileGroup], writeCommit: WriteCommit): RewrittenFiles = {
    val tasks = groups.zipWithIndex.flatMap { case (group, i) => splits(group).map(files => (i, files)) }
    val scan = RewriteScan.of(session, table, snapshot, tasks.map(_._2))(withLineage)
    val plan = writePlan(scan.readSchema())
    val writers = TaskWriterFactory.of(plan, writeCommit.operationId)
    val format = plan.files.format
    val copies = tasks.map { case (group, files) =>
      groups(group).partition.flatMap(FilesToCopy.of(files, _, format.format, lineage.nonEmpty))
    }
    val written = CopyRowsJob.run(session, scan, writers, copies, format.acceptsVectors, writeCommit.registerFile)
    val unordered = FileRewriteJob.inSeveralPartitions(tasks.map(_._1), written)
    val inOrder = tasks.zip(written).collect {
      case ((group, files), result) if groups(group).partition.isDefined && !unordered(group) => (files, result)
    }
    RewrittenFiles(written.flatten, PackedFiles.of(inOrder.map(_._1), inOrder.map(_._2)))
  }

  /** Divides the files of a group into Spark tasks, one task for each file to write. */
  private def splits(group: FileGroup): Vector[Vector[FileScanTask]] =
    Splits.evenly(group.tasks, options.group.outputFiles(group.bytes))

  /** Divides the files of a group into the Spark tasks that read them before a shuffle, so that all cores are used. */
  private def shuffleSplits(group: FileGroup): Vector[Vector[FileScanTask]] = {
    val tasks = math.min(session.sparkContext.defaultParallelism.toLong, group.bytes / FileRewriteJob.MinReadBytes)
    Splits.evenly(group.tasks, math.max(tasks.toInt, options.group.outputFiles(group.bytes)))
  }

  /** Writes the rows of a group in another order. @return the new files */
  private def shuffle(group: FileGroup, writeCommit: WriteCommit): Vector[ContentFile] = {
    val rows = read(shuffleSplits(group), withLineage)
    val byPartition = if (group.partition.isDefined) Nil else RewriteSortOrders.of(table.schema, outputSpec, rows)
    val query = ordering match {
      case RowOrdering.Kept => clustered(rows, byPartition.map(_.child), options.group.outputFiles(group.bytes))
      case RowOrdering.Sorted(ordersOf, partitions) => sorted(rows, byPartition ++ ordersOf(rows), group, partitions)
      case RowOrdering.Hilbert(columns, partitions, _) =>
        sorted(rows, byPartition :+ hilbertOrder(columns, group), group, partitions)
    }
    CollectingWrite.run(session, query, writePlan(query.schema), writeCommit)
  }

  private def hilbertOrder(columns: ClusterColumns, group: FileGroup): SortOrder = {
    val topLevel = columns.paths.map(_.head).toSet
    val rows = read(shuffleSplits(group), schema => StructType(schema.filter(field => topLevel(field.name))))
    val count = group.tasks.iterator.map(_.file.recordCountOrZero).sum
    HilbertKey.order(session, columns.paths.map(UnresolvedAttribute(_)), rows, count)
  }

  /**
   * Returns a plan that shuffles the rows, so that all rows with the same values of the given expressions are in one
   * task.
   */
  private def clustered(rows: LogicalPlan, by: Seq[Expression], tasks: Int): LogicalPlan =
    session.sessionState.executePlan(RepartitionByExpression(by, rows, Some(tasks))).analyzed

  private def sorted(
      rows: LogicalPlan,
      orders: Seq[SortOrder],
      group: FileGroup,
      partitions: RowOrdering.Partitions
  ): LogicalPlan = {
    val tasks = partitions.files(group.bytes, options)
    val shufflePartitions = tasks * partitions.perFile
    val byColumns = orders.forall(_.child.isInstanceOf[Attribute])
    // If only one task reads the files, a run would contain all rows, and they would be sorted twice.
    val hasRuns = shufflePartitions == 1 && byColumns && shuffleSplits(group).size > 1
    val runs = if (hasRuns) sortedRuns(rows, orders) else rows
    val shuffle = RepartitionByExpression(orders, runs, Some(shufflePartitions))
    val execution = session.sessionState.executePlan(Sort(orders, global = false, shuffle))
    if (partitions.perFile == 1) execution.analyzed
    else {
      val coalesced = execution.toRdd.coalesce(tasks, shuffle = false, Some(ConsecutivePartitions))
      LogicalRDD(execution.analyzed.output, coalesced)(session)
    }
  }

  /**
   * Sorts the rows of each task that reads files. A single task later sorts all rows. It then reads each sorted run
   * from the start to the end, which is much faster than random access to the memory of all rows, and the runs are
   * sorted in parallel. A sort by an expression, such as a position on a Z-order curve, does not become faster, because
   * the expression is computed again in each sort.
   */
  private def sortedRuns(rows: LogicalPlan, orders: Seq[SortOrder]): LogicalPlan = {
    // The optimizer would remove a sort below a shuffle, but it does not see the plan of an RDD.
    val execution = session.sessionState.executePlan(Sort(orders, global = false, rows))
    LogicalRDD(execution.analyzed.output, execution.toRdd)(session)
  }

  private def withLineage(schema: StructType): StructType =
    lineage.foldLeft(schema)((s, f) => s.add(f.name, LongType, nullable = true))

  /** Returns a plan that reads files. @param columns selects the columns to read from all columns of the table */
  private def read(taskFiles: Vector[Vector[FileScanTask]], columns: StructType => StructType): LogicalPlan =
    RewriteScan.plan(session, table, snapshot, taskFiles)(columns)

  private def writePlan(rows: StructType): WritePlan = {
    val info = new RewriteInfo(rows, Map(WriteOptions.OutputSpecId.key -> options.outputSpecId.toString))
    val settings = Settings.of(info.options, session, table.properties)
    val target = WriteAuditPublish.Target(SnapshotTarget.Main)
    val plan = WritePlan.of(table, WriteRequest(info, settings, target, session, Nil), lineage, copiesRows = true)
    plan.copy(
      files = plan.files.copy(targetSize = options.group.writeMaxFileSize),
      // The files do not record the sort order of the table: if a task writes more partitions than it may have open
      // files, FanOutRouter sorts the other rows by partition only.
      requirements = RowRequirements.Unspecified
    )
  }
}

private object FileRewriteJob {

  /** The minimum number of bytes that a task reads before a shuffle. */
  private val MinReadBytes = 4L << 20

  /**
   * Returns the groups whose new files belong to several partitions. The files of different partitions have no order,
   * so the order of the rows is unknown. Although all old files of a group belong to one partition, some of their rows
   * may not: Apache Iceberg before 0.12 rounded partition values of times before 1970 differently.
   *
   * @param groups the group of each task
   * @param written the new files of each task
   */
  private def inSeveralPartitions(groups: Vector[Int], written: Vector[Vector[ContentFile]]): Set[Int] =
    groups.zip(written).groupBy(_._1).filter { case (_, tasks) =>
      tasks.flatMap(_._2).map(_.partition).distinct.size > 1
    }.keySet
}

/**
 * The new files of a rewrite.
 *
 * @param packed the replaced files and the new files whose rows have the same order
 */
final private[maintenance] case class RewrittenFiles(files: Vector[ContentFile], packed: Vector[PackedFiles])

private[maintenance] object RewrittenFiles {
  val Empty: RewrittenFiles = RewrittenFiles(Vector.empty, Vector.empty)
}

/** Describes the rows of a rewrite in the same form as Spark describes the rows of ordinary writes. */
final private class RewriteInfo(rows: StructType, writeOptions: Map[String, String]) extends LogicalWriteInfo {
  override def queryId: String = "rewrite"
  override def schema: StructType = rows
  override def options: CaseInsensitiveStringMap =
    new CaseInsensitiveStringMap(if (writeOptions.isEmpty) Collections.emptyMap() else writeOptions.asJava)
}
