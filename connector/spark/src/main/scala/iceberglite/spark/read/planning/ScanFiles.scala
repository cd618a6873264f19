package iceberglite.spark.read.planning

import scala.collection.mutable

import iceberglite.scan.{
  BloomIndex,
  FileFilter,
  FileScanTask,
  PartitionFilter,
  PartitionFilters,
  ScanPlan,
  ServerPlanner,
  ServerScan,
  TableScan
}
import iceberglite.spark.error.ErrorBoundary
import iceberglite.spark.read.files.{CommitScan, WidenedColumns}
import iceberglite.spark.read.limit.RowLimit
import iceberglite.spec.expr.{Bind, Expression}
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.spec.metadata.Snapshot
import iceberglite.spec.schema.Schema
import iceberglite.storage.FileIO
import iceberglite.table.Table
import iceberglite.tree.PartitionSpecs

/**
 * The data that a scan reads, and how it is planned.
 *
 * @param schema the columns to which filters refer
 * @param commits the commits whose changes are read; if absent, the scan reads the snapshot itself
 * @param planning where manifests are read, and which metrics are kept; if absent, the driver reads the manifests
 * @param wholeFiles whether all rows of the planned files are read, including rows that do not satisfy the filter
 * @param planner plans the scan on the server of the catalog; if absent, Spark plans the scan
 */
final private[iceberglite] case class ScanSource(
    table: Table,
    snapshot: Option[Snapshot],
    schema: Schema,
    caseSensitive: Boolean,
    commits: Option[CommitScan] = None,
    planning: Option[ScanPlanning] = None,
    wholeFiles: Boolean = false,
    planner: Option[ServerPlanner] = None
)

/**
 * The files of one scan. They are planned only once, and used for filter pushdown, statistics, EXPLAIN and reading.
 *
 * @param filter a condition that is true for all rows that Spark needs
 * @param limit the limit on the rows that Spark needs
 * @param metricsColumns the ids of columns whose metrics are needed, regardless of the number of files
 * @param existingPlan the plan of all files and the duration of planning in ms, if all files were planned before the
 *   limit was known
 */
final private[iceberglite] case class ScanFiles(
    source: ScanSource,
    filter: Expression,
    limit: RowLimit = RowLimit.Unlimited,
    metricsColumns: Set[Int] = Set.empty,
    existingPlan: Option[(ScanPlan, Long)] = None
) extends ErrorBoundary {
  import source.{caseSensitive, planning, wholeFiles}

  def table: Table = source.table

  def snapshot: Option[Snapshot] = source.snapshot

  def schema: Schema = source.schema

  def commits: Option[CommitScan] = source.commits

  private lazy val planAndDuration: (ScanPlan, Long) = in {
    val start = System.nanoTime()
    val plan = limit.plan(existingPlan.map(_._1), serverScan.fold(planLocally)(scan => RowLimit.byServer(scan.plan)))
    isPlanned = true
    (plan, (System.nanoTime() - start) / 1000000L + existingPlan.fold(0L)(_._2))
  }

  private def planLocally: Option[Long] => ScanPlan = {
    val local = TableScan(table.tree(widened.planningSchema), snapshot, filter, caseSensitive)
      .copy(wholeFiles = wholeFiles)
    val scan = planning.fold(local)(_.of(local, metricsColumns))
    commits.fold[Option[Long] => ScanPlan](scan.plan) { c => _ =>
      c.plan(table, widened.planningSchema, filter, caseSensitive)
    }
  }

  /** The scan that the server plans; absent if Spark plans the scan. */
  private def serverScan: Option[ServerScan] =
    for {
      planner <- source.planner
      version <- snapshot.filter(_ => commits.isEmpty)
    } yield ServerScan(
      table.tree(widened.planningSchema),
      planner,
      version.snapshotId,
      filter,
      caseSensitive,
      usesSnapshotSchema = schema.schemaId != table.schema.schemaId,
      metricsColumns
    )

  /** Whether the server plans the scan. */
  def isServerPlanned: Boolean = serverScan.isDefined

  /** Returns the files of this scan, planned by Spark. */
  def plannedBySpark: ScanFiles =
    if (source.planner.isEmpty) this else copy(source = source.copy(planner = None), existingPlan = None)

  /** The `FileIO` for reading the files: that of the server's plan, if it has one, otherwise that of the table. */
  def io: FileIO = if (isServerPlanned) plan.io.getOrElse(table.io) else table.io

  override protected def errorName: String = table.name

  @volatile private var isPlanned = false

  /** The columns that have a wider type in the snapshot than in the schema of the scan. */
  val widened: WidenedColumns = WidenedColumns.of(table.name, table.metadata, snapshot, schema)

  /**
   * Returns the files of this scan with a limit on the rows, so that fewer files may be planned. The caller ensures
   * that Spark applies no filter to rows.
   *
   * @param newLimit replaces the limit of this scan
   */
  def limitedTo(newLimit: RowLimit): ScanFiles =
    copy(limit = newLimit, existingPlan = if (isPlanned) Some(planAndDuration) else None)

  /**
   * Returns the files with the metrics of more columns, if available. For a large number of files, a plan keeps only
   * the metrics of its filter's columns.
   *
   * @param ids the ids of the columns
   */
  def withMetricsOf(ids: Set[Int]): ScanFiles =
    if (plan.statsToKeep.hasAll(ids)) this
    else copy(metricsColumns = metricsColumns ++ ids, existingPlan = None)

  def plan: ScanPlan = planAndDuration._1

  /** The duration of planning in ms. */
  def planningMs: Long = planAndDuration._2

  /**
   * Whether the size of the scan is taken from the plan and not from the snapshot summary. This is the case if the scan
   * has already been planned. It is also the case if the scan does not return all rows of the snapshot, because the
   * snapshot summary describes all rows.
   */
  def isPlanNeeded: Boolean =
    isPlanned || filter != AlwaysTrue || limit != RowLimit.Unlimited || commits.isDefined

  /**
   * Whether a condition is true for every row of the planned files, so that Spark need not apply it to rows. The check
   * uses the partition values of the files.
   *
   * @param byMetrics whether the check also uses the column metrics of the files
   */
  def isTrueForAllRows(condition: Expression, byMetrics: Boolean = false): Boolean = {
    val bound = bind(condition)
    bound == AlwaysTrue || (byMetrics || isOnPartitionSources(bound)) && holdsFor(bound, byMetrics)
  }

  private def isOnPartitionSources(bound: Expression): Boolean = {
    val sources = table.metadata.specs.flatMap(_.fields).flatMap(_.sourceIds).toSet
    bound.fieldIds.forall(sources.contains)
  }

  /**
   * Whether a condition is true for all rows of the planned files and of the files that the Bloom index excludes. The
   * excluded files are checked too, because they are read if the scan is planned again and the index can no longer be
   * read. The check stops at the first file for which the condition may be false.
   */
  private def holdsFor(bound: Expression, byMetrics: Boolean): Boolean = {
    val filter = filterOf(bound)
    val ids = bound.fieldIds
    (plan.tasks.iterator ++ plan.skippedByIndex).forall { task =>
      val rows = filter(task)
      rows.isAll || byMetrics && hasReliableNullCounts(task, ids) && rows.allMatch(task.file)
    }
  }

  /**
   * Whether null counts are reliable. A writer that did not inspect a column may have written a null count of 0 for
   * this column.
   */
  private def hasReliableNullCounts(task: FileScanTask, ids: Set[Int]): Boolean =
    ids.forall(task.file.metrics.valueCount(_).contains(task.file.recordCount))

  /** Binds a condition to the columns of the scan's schema. */
  def bind(condition: Expression): Expression = Bind(condition, schema, caseSensitive)

  /**
   * Returns the planned files that may have rows that satisfy an additional condition, which comes from a runtime
   * filter.
   *
   * @param bound the condition, bound to the columns of the scan's schema
   */
  def tasksWith(bound: Expression): Vector[FileScanTask] =
    if (bound == AlwaysTrue) plan.tasks
    else if (plan.statsToKeep.hasAll(bound.fieldIds) || limit != RowLimit.Unlimited || isServerPlanned) {
      val filter = filterOf(bound)
      val tasks = plan.tasks.filter(task => filter(task).mightMatch(task.file))
      // The storage of a plan by the server may not give access to statistics files.
      if (isServerPlanned) tasks
      else BloomIndex.of(table.tree(widened.planningSchema), snapshot, bound)
        .fold(tasks)(index => tasks.filter(index.filter(tasks)))
    } else {
      // The files are planned again, because this plan lacks the metrics for the condition. The new plan may not use
      // the Bloom index. Files that the index excludes from this plan remain excluded, because Spark has already been
      // told the partitions of the files of this plan.
      val excluded = plan.skippedByIndex.iterator.map(_.file.path).toSet
      copy(filter = Expression.and(filter, bound), existingPlan = None).plan.tasks
        .filterNot(task => excluded(task.file.path))
    }

  /** Returns a function from a file to the part of a condition that the file's partition values do not decide. */
  private def filterOf(bound: Expression): FileScanTask => PartitionFilter = {
    val filter = new FileFilter(bound, PartitionSpecs.of(table.metadata, widened.planningSchema))
    val bySpec = mutable.Map.empty[Int, PartitionFilters]
    task => bySpec.getOrElseUpdate(task.spec.specId, filter.of(task.spec).byPartition).of(task.file.partition)
  }
}
