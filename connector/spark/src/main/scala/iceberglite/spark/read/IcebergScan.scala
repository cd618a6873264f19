package iceberglite.spark.read

import java.util
import java.util.concurrent.atomic.AtomicBoolean

import scala.collection.JavaConverters._

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.util.METADATA_COL_ATTR_KEY
import org.apache.spark.sql.connector.expressions.{NamedReference, SortOrder}
import org.apache.spark.sql.connector.expressions.filter.Predicate
import org.apache.spark.sql.connector.metric.{CustomMetric, CustomTaskMetric}
import org.apache.spark.sql.connector.read.Scan.ColumnarSupportMode
import org.apache.spark.sql.connector.read.{
  Batch,
  Scan,
  Statistics,
  SupportsReportOrdering,
  SupportsReportPartitioning,
  SupportsReportStatistics,
  SupportsRuntimeV2Filtering
}
import org.apache.spark.sql.connector.read.colstats.ColumnStatistics
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream
import org.apache.spark.sql.connector.read.partitioning.{Partitioning, UnknownPartitioning}
import org.apache.spark.sql.types.{MetadataBuilder, StructType}

import iceberglite.data.VariantPath
import iceberglite.scan.FileScanTask
import iceberglite.spark.conf.ReadSettings
import iceberglite.spark.convert.SparkTypes
import iceberglite.spark.error.ErrorBoundary
import iceberglite.spark.read.files.ScanColumns
import iceberglite.spark.read.limit.PlanSubset
import iceberglite.spark.read.partitioning.{
  ColumnEstimates,
  KeyGrouping,
  KnownStatistics,
  RuntimeFilterColumns,
  ScanRuntimeFilter,
  ScanSize,
  SizeEstimate
}
import iceberglite.spark.read.planning.{FixedPacking, ScanFiles, TaskFilePacking}
import iceberglite.spec.IcebergError.Unsupported
import iceberglite.spec.expr.Expression
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.spec.metadata.Snapshot
import iceberglite.spec.types.NestedField
import iceberglite.table.Table

/**
 * A scan of a table. Scans that read the same data are equal, which lets Spark reuse the result of one scan.
 *
 * @param streams creates the stream of the scan; absent if the scan can only be read as a batch
 */
final private[iceberglite] class IcebergScan(
    private[iceberglite] val files: ScanFiles,
    private[iceberglite] val scanColumns: ScanColumns,
    private[iceberglite] val settings: ReadSettings,
    caseSensitive: Boolean,
    session: SparkSession,
    private[iceberglite] val grouping: Option[KeyGrouping] = None,
    streams: Option[StreamSource] = None
) extends Scan
    with SnapshotRead
    with SupportsReportStatistics
    with SupportsReportPartitioning
    with SupportsReportOrdering
    with SupportsRuntimeV2Filtering
    with ErrorBoundary {
  override protected def errorName: String = files.table.name

  override private[iceberglite] def scanFiles: ScanFiles = files

  /**
   * The schema of the scan. Each metadata column is marked as such in its column metadata. Spark loses these marks
   * unless each scan sets them again.
   */
  private lazy val schema: StructType =
    StructType(scanColumns.fields.zip(SparkTypes.toSpark(scanColumns.fields)).map { case (field, column) =>
      val mark = new MetadataBuilder().putString(METADATA_COL_ATTR_KEY, field.name).build()
      if (scanColumns.metadataIds(field.id)) column.copy(metadata = mark) else column
    })

  override def readSchema(): StructType = schema

  /** Returns this scan with the tasks grouped by partition keys. */
  private[iceberglite] def groupedBy(grouping: KeyGrouping): IcebergScan =
    new IcebergScan(files, scanColumns, settings, caseSensitive, session, Some(grouping), streams)

  /**
   * Returns this scan with only some parts of the variants of columns. In the returned variants, each of the given
   * paths leads to the same value as in the complete variants.
   *
   * @param parts the paths by field id
   */
  private[iceberglite] def withParts(parts: Map[Int, Set[VariantPath]]): IcebergScan =
    new IcebergScan(files, scanColumns.copy(parts = parts), settings, caseSensitive, session, grouping, streams)

  /**
   * Reports the grouping of the scan to Spark, if its tasks are grouped by partition key. The user can request a
   * grouping with a read option; otherwise, [[iceberglite.spark.rules.StoragePartitionedJoins]] groups the scans that
   * benefit from it.
   */
  override def outputPartitioning(): Partitioning = in {
    grouping.flatMap(_.reportedPartitioning).getOrElse(new UnknownPartitioning(0))
  }

  override def outputOrdering(): Array[SortOrder] = in(grouping.fold(Array.empty[SortOrder])(_.reportedOrder))

  override def toBatch: Batch = in {
    streams.foreach(_.rejectForBatch())
    new IcebergBatch(this, runtimeFilter, None, session)
  }

  /**
   * Returns a batch that reads only some files of the scan.
   *
   * @param tasks the files to read
   * @param packing how the files are packed into tasks; if absent, they are packed by size, and are split only if there
   *   are too few files for all cores
   */
  private[iceberglite] def batchOf(tasks: Vector[FileScanTask], packing: Option[TaskFilePacking]): Batch =
    new IcebergBatch(this, ScanRuntimeFilter.none(files), Some(tasks), session, packing)

  // Spark's interface requires this mutable state: Spark builds the scan of a stream like the scan of a batch.
  @volatile private var stream: Option[ScanStream] = None

  override def toMicroBatchStream(checkpointLocation: String): MicroBatchStream = in {
    val source = streams.getOrElse(throw Unsupported(
      s"streaming reads of ${files.table.name} in this form",
      "Stream the table itself, or its changes"
    ))
    val created = source.streamOf(this, checkpointLocation)
    stream = Some(created)
    created
  }

  /**
   * Returns a batch that reads files with the columns of this scan.
   *
   * @param table the version of the table that contains the files
   * @param snapshot the snapshot whose column types the files may have; absent if no files are read
   */
  private[iceberglite] def batchAt(table: Table, snapshot: Option[Snapshot], tasks: Vector[FileScanTask]): Batch = {
    val source = files.source.copy(table = table, snapshot = snapshot, commits = None, planner = None)
    val scan = new IcebergScan(ScanFiles(source, AlwaysTrue), scanColumns, settings, caseSensitive, session)
    scan.batchOf(tasks, Some(FixedPacking(scan.packing.packMicroBatch(tasks))))
  }

  private[iceberglite] def plannedTasks: Vector[FileScanTask] = files.plan.tasks

  private[iceberglite] val packing = new TaskPacking(settings, grouping, files.table.metadata, files.table.name)

  /** The tasks of the scan without a runtime filter, for EXPLAIN and for batches. */
  private[read] lazy val tasks: Vector[PackedTask] = packing.pack(plannedTasks)

  private[iceberglite] def filter: Expression = files.filter

  /** Whether Spark receives columnar batches. This is the case for all file formats unless the user requests rows. */
  private[read] def isColumnar: Boolean = settings.vectorized

  override def columnarSupportMode(): ColumnarSupportMode =
    in(if (isColumnar) ColumnarSupportMode.SUPPORTED else ColumnarSupportMode.UNSUPPORTED)

  /**
   * Describes for EXPLAIN which files the scan reads, and which files the filters skip. The description reports the
   * number of tasks without a runtime filter. A runtime filter may reduce this number later.
   */
  override def description(): String = in(stream.fold(descriptionWith(tasks.size))(_.description))

  /**
   * Describes the scan.
   *
   * @param taskCount the number of tasks to report. It differs from the tasks of the scan if the caller selects the
   *   files to read.
   */
  private[iceberglite] def descriptionWith(taskCount: Int): String = {
    val report = files.plan.report
    val snapshot = files.commits.fold(report.snapshotId.fold("no snapshot")(id => s"snapshot $id"))(_.description)
    val filters = Expression.conjuncts(files.plan.filter).mkString(" AND ")
    val skipping = Seq(
      Some(filters).filter(_.nonEmpty).map(f => s"filters=$f"),
      Some(report.totalFiles.fold(s"files=${report.resultFiles}")(n => s"files=${report.resultFiles} of $n")),
      if (files.isServerPlanned) Some("planned by the server")
      else Some(s"manifests=${report.readManifests} of ${report.totalManifests}"),
      files.limit.description,
      grouping.map(_.description),
      Some(report.deleteFiles).filter(_ > 0).map(n => s"deleteFiles=$n"),
      if (isColumnar) None else Some("rows one by one"),
      describedParts,
      Some(s"tasks=$taskCount")
    )
    s"iceberg-lite ${files.table.name} ($snapshot) ${skipping.flatten.mkString("[", ", ", "]")}"
  }

  private def describedParts: Option[String] = {
    val paths = scanColumns.parts.toVector.flatMap { case (id, paths) =>
      paths.toVector.map(path => s"${files.schema.names(id)}: $path")
    }.sorted
    if (paths.isEmpty) None else Some(paths.mkString("parts=", ", ", ""))
  }

  private lazy val size = new ScanSize(files, columns, schema)

  override def estimateStatistics(): Statistics = in {
    stream.fold(size.estimate.statistics(estimates)) { s =>
      s.plannedRows.fold(SizeEstimate.Unknown)(SizeEstimate.of(_, schema).statistics())
    }
  }

  private lazy val estimates: util.Map[NamedReference, ColumnStatistics] =
    if (!session.sessionState.conf.cboEnabled) util.Collections.emptyMap()
    else ColumnEstimates.of(files, files.widened.without(columns), size.averageLength).map { case (name, e) =>
      (ColumnReference(name): NamedReference) -> e
    }.asJava

  /** Returns the statistics of a column by its name in the table's schema; absent if there is no such column. */
  private[iceberglite] def statisticsOf(column: String): Option[KnownStatistics] =
    in(columns.find(_.name == column).map(KnownStatistics.of(files, _)))

  /** The columns of the table, without metadata columns. */
  private def columns: Vector[NestedField] = scanColumns.fields.filterNot(f => scanColumns.metadataIds(f.id))

  // Spark's interface requires this mutable state: `filter` returns no new scan, and the scan in the query plan cannot
  // be replaced. Spark calls `filter` when the join keys of the other join side are known, and requests a new batch
  // directly afterwards. If two joins share the scan, only the filters that were set last apply.
  @volatile private var runtimeFilter: ScanRuntimeFilter = ScanRuntimeFilter.none(files)

  private lazy val runtimeFilterColumns: Vector[NestedField] =
    RuntimeFilterColumns.of(files, files.widened.without(columns))

  /** The columns for which a runtime filter with the join keys of the other join side can skip files. */
  override def filterAttributes(): Array[NamedReference] =
    in(runtimeFilterColumns.map(f => ColumnReference(f.name): NamedReference).toArray)

  override def filter(predicates: Array[Predicate]): Unit = in {
    runtimeFilter = ScanRuntimeFilter.of(predicates, files, caseSensitive)
  }

  override def supportedCustomMetrics(): Array[CustomMetric] = ScanMetrics.all

  /** Returns the planning metrics. Spark calls this method after runtime filters are set. */
  override def reportDriverMetrics(): Array[CustomTaskMetric] = in {
    stream.fold(batchMetrics)(s => ScanMetrics.of(s.lastBatch, 0L))
  }

  private def batchMetrics: Array[CustomTaskMetric] = {
    val filter = runtimeFilter
    if (filter.isEmpty) ScanMetrics.of(files.plan.report, files.planningMs) else metricsOf(filter.tasks)
  }

  private val isReported = new AtomicBoolean

  /** Reports the metrics of the scan to the metrics reporters of the catalog. Only the first call has an effect. */
  private[read] def reportMetrics(): Unit = if (!isReported.getAndSet(true)) {
    val filter = runtimeFilter
    val planned = if (filter.isEmpty) files.plan.report else PlanSubset.of(files.plan, filter.tasks).report
    ReportedScan.report(files, scanColumns, planned, session)
  }

  private[iceberglite] def metricsOf(tasks: Vector[FileScanTask]): Array[CustomTaskMetric] =
    ScanMetrics.of(PlanSubset.of(files.plan, tasks).report, files.planningMs)

  private def key: Any = (
    files.table.name,
    files.table.metadata.uuid,
    files.snapshot.map(_.snapshotId),
    files.schema.fields,
    files.filter,
    files.limit,
    files.commits,
    scanColumns,
    settings,
    grouping
  )

  override def equals(that: Any): Boolean = that match {
    case scan: IcebergScan => scan.key == key
    case _ => false
  }

  override def hashCode: Int = key.hashCode

  override def toString: String = s"IcebergScan(${files.table.name})"
}

/** A reference to a top-level column, whose name may contain dots. */
final private case class ColumnReference(name: String) extends NamedReference {
  override def fieldNames(): Array[String] = Array(name)
  override def describe(): String = name
}
