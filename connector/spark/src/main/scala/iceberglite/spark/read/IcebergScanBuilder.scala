package iceberglite.spark.read

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.expressions.SortOrder
import org.apache.spark.sql.connector.expressions.aggregate.Aggregation
import org.apache.spark.sql.connector.expressions.filter.Predicate
import org.apache.spark.sql.connector.read.{
  Scan,
  ScanBuilder,
  SupportsPushDownAggregates,
  SupportsPushDownLimit,
  SupportsPushDownRequiredColumns,
  SupportsPushDownTopN,
  SupportsPushDownV2Filters
}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import iceberglite.scan.{ScanPlan, ServerPlanner, SnapshotRange, Splits}
import iceberglite.spark.conf.{ReadOptions, ReadSettings}
import iceberglite.spark.convert.{ConvertedFilter, SparkFilters, VariantForm}
import iceberglite.spark.error.ErrorBoundary
import iceberglite.spark.read.aggregate.AggregateScan
import iceberglite.spark.read.files.{CommitScan, MetadataFields, ScanColumns}
import iceberglite.spark.read.limit.{RowLimit, RowOrder}
import iceberglite.spark.read.partitioning.KeyGrouping
import iceberglite.spark.read.planning.{ScanFiles, ScanPlanning, ScanSource, StatementFiles}
import iceberglite.spec.expr.Expression
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.spec.metadata.Snapshot
import iceberglite.spec.schema.{MetadataColumns, Schema}
import iceberglite.table.Table

/**
 * The settings of a scan that are set only for queries, and not for statements that change rows.
 *
 * @param streams creates the stream of the scan; absent if the scan can only be read as a batch
 * @param planner plans the scan on the server of the catalog; absent if Spark plans the scan
 */
final case class QueryParts(streams: Option[StreamSource], planner: Option[ServerPlanner])

object QueryParts {
  val Absent: QueryParts = QueryParts(None, None)
}

/**
 * The settings of a scan that are set only if its rows are written again, by a statement or by a rewrite of files.
 *
 * @param wholeFiles whether the scan returns all rows of each file that may have a matching row
 * @param variants the form in which variants are read
 */
final private[iceberglite] case class RewriteParts(wholeFiles: Boolean, variants: VariantForm)

private[iceberglite] object RewriteParts {
  val Absent: RewriteParts = RewriteParts(wholeFiles = false, VariantForm.Json)
}

/**
 * Builds a scan with Spark's pushdowns: columns, fields of structs, filters, aggregates and limits.
 *
 * @param snapshot absent for a table without a snapshot
 * @param schema the schema to read with: the schema of the snapshot, or the current schema of the table
 * @param appended the commits whose appended rows are read; absent to read all rows of the snapshot
 * @param rewrite the settings that are set only if the rows are written again
 * @param query the settings that are set only for queries
 */
final class IcebergScanBuilder(
    table: Table,
    snapshot: Option[Snapshot],
    schema: Schema,
    options: CaseInsensitiveStringMap,
    session: SparkSession,
    appended: Option[SnapshotRange] = None,
    rewrite: RewriteParts = RewriteParts.Absent,
    query: QueryParts = QueryParts.Absent
) extends ScanBuilder
    with SupportsPushDownV2Filters
    with SupportsPushDownRequiredColumns
    with SupportsPushDownAggregates
    with SupportsPushDownLimit
    with SupportsPushDownTopN
    with ErrorBoundary {
  private val settings = {
    ReadOptions.check(options, session)
    ReadSettings.of(options, session, table.properties).copy(variants = rewrite.variants)
  }
  private val planning = ScanPlanning.of(options, session, table.properties)
  private val caseSensitive = session.sessionState.conf.getConf(SQLConf.CASE_SENSITIVE)

  private val source = ScanSource(
    table,
    snapshot,
    schema,
    caseSensitive,
    appended.map(CommitScan.Appends),
    Some(planning),
    rewrite.wholeFiles,
    query.planner
  )

  private var pushed: Array[Predicate] = Array.empty
  private var scanColumns: ScanColumns = ScanColumns.all(schema)
  private var files: ScanFiles = filesWith(AlwaysTrue)
  private var aggregateScan: Option[AggregateScan] = None

  /** Pushes filters down. @return the filters that Spark has to apply to the rows */
  override def pushPredicates(predicates: Array[Predicate]): Array[Predicate] = in {
    val filters = converted(predicates)
    pushed = filters.collect { case (p, Some(_)) => p }
    files = filesFor(filters.flatMap(_._2))
    val byMetrics = ReadOptions.filtersByMetrics(options)
    filters.collect { case (p, c) if !c.exists(f => f.exact && files.isTrueForAllRows(f.expression, byMetrics)) => p }
  }

  /**
   * Converts filters. If the conversion of a filter is not exact, the filter is converted again. The second conversion
   * uses the values that string columns have in the files that the other filters select.
   */
  private def converted(predicates: Array[Predicate]): Array[(Predicate, Option[ConvertedFilter])] = {
    val (unusable, usable) = predicates.partition(files.widened.areUsedIn)
    val filters = new SparkFilters(schema, caseSensitive)
    val first = usable.map(p => p -> filters.convert(p)).toMap
    val strings = new PartitionStrings(filesFor(usable.flatMap(first(_))))
    val filtersOnStrings = new SparkFilters(schema, caseSensitive, strings)
    predicates.map { p =>
      p -> (if (unusable.contains(p)) None else first(p).filter(_.exact).orElse(filtersOnStrings.convert(p)))
    }
  }

  override def pushedPredicates(): Array[Predicate] = pushed

  override def pruneColumns(required: StructType): Unit = in {
    scanColumns = ScanColumns.of(required, schema, MetadataFields.of(table.metadata), caseSensitive)
    // The plan of a server has no data sequence numbers, which are the values of this column.
    if (scanColumns.metadataIds(MetadataColumns.LastUpdatedSequenceNumber.id)) files = files.plannedBySpark
  }

  /** Always returns true. Spark need not aggregate again, because the aggregates from metadata are complete. */
  override def supportCompletePushDown(aggregation: Aggregation): Boolean = true

  /**
   * Pushes an aggregation down. Spark calls this method, [[pushLimit]] and [[pushTopN]] only if it applies no filter to
   * rows itself.
   */
  override def pushAggregation(aggregation: Aggregation): Boolean = in {
    query.streams.foreach(_.rejectForBatch())
    val columns = aggregation.aggregateExpressions ++ aggregation.groupByExpressions
    if (settings.aggregatePushDown && !columns.exists(files.widened.areUsedIn)) {
      aggregateScan = AggregateScan.of(aggregation, table.metadata, schema, caseSensitive, planWithMetricsOf)
    }
    aggregateScan.isDefined
  }

  override def pushLimit(rows: Int): Boolean = in(pushRowLimit(Some(RowLimit.Limit(rows))))

  override def pushTopN(orders: Array[SortOrder], rows: Int): Boolean = in {
    val usable = orders.takeWhile(order => !files.widened.areUsedIn(order.expression))
    pushRowLimit(RowOrder.of(usable, schema, table.metadata, caseSensitive).map { order =>
      planWithMetricsOf(Set(order.column.id))
      RowLimit.TopN(rows, order)
    })
  }

  private def planWithMetricsOf(columns: Set[Int]): ScanPlan = {
    files = files.withMetricsOf(columns)
    files.plan
  }

  private def pushRowLimit(rows: Option[RowLimit]): Boolean = rows.filter(_ => aggregateScan.isEmpty).exists { limit =>
    files = files.limitedTo(limit)
    true
  }

  /** Always returns true. The scan uses a limit only to skip files, so Spark still limits the rows. */
  override def isPartiallyPushed(): Boolean = true

  override def build(): Scan = in {
    aggregateScan.getOrElse {
      val scan = buildUngrouped()
      if (settings.dataGrouping.contains(true)) KeyGrouping.requested(files, scanColumns).fold(scan)(scan.groupedBy)
      else scan
    }
  }

  /** Builds a scan that returns rows and is not grouped. */
  private[iceberglite] def buildUngrouped(): IcebergScan =
    new IcebergScan(files, scanColumns, settings, caseSensitive, session, streams = query.streams)

  private[iceberglite] def tableName: String = table.name

  /** Whether a single task reads all files. */
  private[iceberglite] def readsInOneTask: Boolean = {
    val tasks = files.plan.tasks
    def split =
      Splits.of(tasks, settings.splitSizeFor(tasks.map(_.length).sum), settings.fileOpenCost, settings.lookback)
    tasks.size <= 1 && split.size <= 1
  }

  /** Returns the files that a row-level statement reads with this scan, after Spark has planned the scan. */
  private[iceberglite] def statementFiles: StatementFiles = StatementFiles(files.plan.tasks, files.filter)

  override protected def errorName: String = table.name

  private def filesFor(filters: Array[ConvertedFilter]): ScanFiles =
    filesWith(filters.map(_.expression).foldLeft[Expression](AlwaysTrue)(Expression.and))

  private def filesWith(filter: Expression): ScanFiles =
    ScanFiles(source, filter)
}
