package iceberglite.spark.inspect

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.expressions.filter.Predicate
import org.apache.spark.sql.connector.read.{
  Batch,
  InputPartition,
  LocalScan,
  PartitionReaderFactory,
  Scan,
  ScanBuilder,
  Statistics,
  SupportsPushDownRequiredColumns,
  SupportsPushDownV2Filters,
  SupportsReportStatistics
}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.StructType

import iceberglite.inspect.{MetadataRow, MetadataTable, MetadataRows, RowRequest}
import iceberglite.spark.convert.{InternalRows, SparkFilters}
import iceberglite.spark.error.ErrorBoundary
import iceberglite.spark.read.partitioning.SizeEstimate
import iceberglite.spec.expr.Expression
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.spec.metadata.Snapshot
import iceberglite.spec.schema.Schema
import iceberglite.table.Table

/**
 * Plans a read of a metadata table. The read omits columns that are not requested and, where possible, rows that do not
 * satisfy the filters. The driver produces the rows of a small metadata table, and Spark tasks produce the rows of a
 * large one.
 *
 * @param sparkSchema the schema of the metadata table when Spark resolved it
 * @param splits decides whether Spark tasks produce the rows
 */
final class MetadataTableScanBuilder(
    name: String,
    table: Table,
    metadataTable: MetadataTable,
    snapshot: Option[Snapshot],
    sparkSchema: StructType,
    splits: MetadataSplits,
    session: SparkSession
) extends ScanBuilder
    with SupportsPushDownRequiredColumns
    with SupportsPushDownV2Filters
    with ErrorBoundary {
  override protected def errorName: String = name

  private lazy val columns: Schema = metadataTable.schema(table)
  private var requiredSchema: StructType = sparkSchema
  private var pushed: Array[Predicate] = Array.empty
  private var filter: Expression = AlwaysTrue

  /**
   * Uses the filters to produce fewer rows.
   *
   * @return all filters, because Spark evaluates them again. Therefore, the rows need not be filtered exactly
   */
  override def pushPredicates(predicates: Array[Predicate]): Array[Predicate] = in {
    val filters = new SparkFilters(columns, session.sessionState.conf.getConf(SQLConf.CASE_SENSITIVE))
    val converted = predicates.flatMap(p => filters.convert(p).map(p -> _.expression))
    pushed = converted.map(_._1)
    filter = converted.map(_._2).foldLeft[Expression](AlwaysTrue)(Expression.and)
    predicates
  }

  override def pushedPredicates(): Array[Predicate] = pushed

  /** Prunes columns and fields of structs. File metrics are decoded only if they are requested. */
  override def pruneColumns(required: StructType): Unit = in {
    requiredSchema = RequestedFields.select(sparkSchema, required)
  }

  override def build(): Scan = in {
    val requested = RequestedFields.select(columns.fields, requiredSchema)
    val structs = RequestedFields.structs(columns.fields, requested)
    val request = RowRequest(requested.map(_.name), filter, structs)
    val output = Schema(0, requested)
    val description = s"$name ${request.columns.mkString("[", ", ", "]")}" +
      (if (pushed.isEmpty) "" else pushed.mkString(", filters ", ", ", ""))
    val groups = metadataTable.groups(table, snapshot, request)
    groups.flatMap(splits.of(_, requiredSchema)) match {
      case Some(tasks) => new DistributedMetadataScan(name, description, requiredSchema, output, tasks)
      case None =>
        def rows = groups.fold(metadataTable.select(table, snapshot, request))(
          MetadataRows.combined(_).iterator.flatMap(_.rows())
        )
        new LocalMetadataScan(name, description, requiredSchema, output, () => rows)
    }
  }
}

/** Rows that the driver produces when Spark first needs them: to estimate their size, or to execute the query. */
final private class LocalMetadataScan(
    name: String,
    text: String,
    requiredSchema: StructType,
    output: Schema,
    produce: () => Iterator[MetadataRow]
) extends LocalScan
    with SupportsReportStatistics
    with ErrorBoundary {
  override protected def errorName: String = name

  private lazy val outputRows: Array[InternalRow] = in(produce().map(InternalRows.of(output)).toArray)

  override def rows(): Array[InternalRow] = outputRows

  /**
   * Estimates the size of the rows from their number. Spark requests the estimate from the same scan object that it
   * executes later, so the rows are produced only once.
   */
  override def estimateStatistics(): Statistics =
    in(SizeEstimate.of(outputRows.length.toLong, requiredSchema).statistics())

  override def readSchema(): StructType = requiredSchema

  override def description(): String = text
}

/** Rows that Spark tasks produce. The driver has only the list of the files that the tasks read. */
final private class DistributedMetadataScan(
    name: String,
    text: String,
    requiredSchema: StructType,
    output: Schema,
    tasks: Vector[Vector[MetadataRows]]
) extends Scan
    with Batch
    with SupportsReportStatistics
    with ErrorBoundary {
  override protected def errorName: String = name

  override def toBatch: Batch = this

  override def planInputPartitions(): Array[InputPartition] =
    in(tasks.map(task => MetadataInputPartition(task.map(_.forReading)): InputPartition).toArray)

  override def createReaderFactory(): PartitionReaderFactory = in(new MetadataReaderFactory(name, output))

  override def estimateStatistics(): Statistics =
    in(SizeEstimate.of(tasks.iterator.flatten.map(_.estimatedRows).sum, requiredSchema).statistics())

  override def readSchema(): StructType = requiredSchema

  override def description(): String = in(s"$text, ${tasks.size} tasks")
}
