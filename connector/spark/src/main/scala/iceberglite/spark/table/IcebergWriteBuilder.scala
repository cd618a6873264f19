package iceberglite.spark.table

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.expressions.filter.Predicate
import org.apache.spark.sql.connector.write.{LogicalWriteInfo, SupportsDynamicOverwrite, SupportsOverwriteV2, Write}
import org.apache.spark.sql.internal.connector.SupportsStreamingUpdateAsAppend

import iceberglite.spark.conf.{
  OverwriteOptions,
  SchemaOptions,
  Settings,
  UpsertOptions,
  WriteAuditPublish,
  WriteOptions
}
import iceberglite.spark.conf.OverwriteOptions.ReplacedRows
import iceberglite.spark.convert.SparkFilters
import iceberglite.spark.error.ErrorBoundary
import iceberglite.spark.stream.sink.{SinkMetrics, StreamSink, StreamableWrite}
import iceberglite.spark.write.{CommitFollowUp, IcebergWrite, SchemaMerge, WriteMode, WritePlan, WriteRequest}
import iceberglite.spark.write.upsert.{UpsertPlan, UpsertWrite}
import iceberglite.spec.IcebergError.Unsupported
import iceberglite.spec.expr.Expression
import iceberglite.table.Table

/**
 * Builds Spark's writes to a table.
 *
 * @param statementMerge the changes to the table's columns that the resolved statement already contains; absent if the
 *   statement neither adds nor widens columns
 * @param followUps the maintenance that may follow the commit
 * @param metrics receives the metrics of the micro-batch if the write belongs to a streaming query
 */
sealed class IcebergWriteBuilder private[iceberglite] (
    table: Table,
    info: LogicalWriteInfo,
    session: SparkSession,
    statementMerge: Option[SchemaMerge],
    followUps: Seq[CommitFollowUp],
    metrics: SinkMetrics = new SinkMetrics
) extends SupportsDynamicOverwrite
    with SupportsOverwriteV2
    with ErrorBoundary {
  private val settings = Settings.of(info.options, session, table.properties)
  private val caseSensitive = session.sessionState.conf.caseSensitiveAnalysis
  private var mode: WriteMode = WriteMode.Append
  private var isDynamicByOption = false

  private val target: WriteAuditPublish.Target = {
    WriteOptions.check(info.options, session)
    WriteOptions.all.foreach(_.get(settings))
    WriteAuditPublish.target(table, WriteOptions.Branch.get(settings), session)
  }

  private val merge: Option[SchemaMerge] =
    if (statementMerge.isDefined) statementMerge
    else if (SchemaOptions.merges(settings)) SchemaMerge.of(table, info.schema, caseSensitive) else None

  /** The table with the columns that it will have after the write. */
  private val mergedTable: Table = merge.fold(table)(_.merged)

  override def overwriteDynamicPartitions(): IcebergWriteBuilder = in {
    mode = WriteMode.OverwritePartitions
    this
  }

  /**
   * Makes the write an overwrite of the rows that satisfy a condition. If the condition is true for all rows and the
   * options request a dynamic overwrite, the write replaces the partitions of the new rows instead.
   *
   * @throws iceberglite.spark.error.StatementError if the condition cannot be evaluated on files
   */
  override def overwrite(predicates: Array[Predicate]): IcebergWriteBuilder = in {
    val where = condition(predicates)
    val dynamic = where == Expression.AlwaysTrue && OverwriteOptions.isDynamic(settings).contains(true)
    mode = if (dynamic) WriteMode.OverwritePartitions else WriteMode.OverwriteWhere(where)
    isDynamicByOption = dynamic
    this
  }

  override def build(): Write = in {
    OverwriteOptions.check(table.name, replacedRows, settings)
    val sink = StreamSink(info.queryId, settings, target.snapshotTarget, metrics)
    if (UpsertOptions.isRequested(settings)) {
      val write = upsert
      new StreamableWrite(write, table.name, () => sink.write(write.tasks))
    } else {
      val unmerged = WritePlan.of(mergedTable, request).withConstraints
      val plan = unmerged.copy(settings = unmerged.settings.copy(merge = merge))
      new StreamableWrite(new IcebergWrite(plan, mode), table.name, () => sink.write(plan, mode))
    }
  }

  /**
   * Returns the rows that the write replaces. For a staged table, the mode of the write does not determine these rows:
   * the table is empty, and Spark fills it by an append or by an overwrite of all rows.
   */
  private def replacedRows: ReplacedRows =
    if (table.isStaged) { if (table.isReplacement) ReplacedRows.Table else ReplacedRows.NewTable }
    else mode match {
      case WriteMode.OverwriteWhere(Expression.AlwaysTrue) => ReplacedRows.AllRows
      case WriteMode.OverwriteWhere(_) => ReplacedRows.Matching
      case WriteMode.OverwritePartitions if isDynamicByOption => ReplacedRows.AllRows
      case WriteMode.OverwritePartitions => ReplacedRows.Partitions
      case _ => ReplacedRows.NoRows
    }

  private def upsert: UpsertWrite = {
    if (mode != WriteMode.Append || merge.isDefined) throw IcebergWriteBuilder.upsertThatOverwrites(table.name)
    if (table.isStaged) throw Unsupported(
      s"an upsert into ${table.name}, which is being created",
      "Create the table first; a new table has no rows to replace"
    )
    UpsertPlan.of(table, request)
  }

  private def request: WriteRequest = WriteRequest(info, settings, target, session, followUps)

  override protected def errorName: String = table.name

  private def condition(predicates: Array[Predicate]): Expression = {
    val filters = new SparkFilters(mergedTable.schema, caseSensitive)
    predicates.map { predicate =>
      filters.exact(predicate).getOrElse(
        throw Unsupported(
          s"overwriting ${table.name} where $predicate",
          "Compare columns with constants, or delete the rows in one statement and append in another"
        )
      )
    }.foldLeft[Expression](Expression.AlwaysTrue)(Expression.and)
  }
}

/**
 * Builds the writes of a query with key columns. The query may be a streaming query, also in update mode. Spark 3.5
 * calls the same methods for append and update mode; for update mode, it only requires
 * `SupportsStreamingUpdateAsAppend`.
 */
final class UpsertWriteBuilder private[table] (
    table: Table,
    info: LogicalWriteInfo,
    session: SparkSession,
    statementMerge: Option[SchemaMerge],
    followUps: Seq[CommitFollowUp],
    metrics: SinkMetrics
) extends IcebergWriteBuilder(table, info, session, statementMerge, followUps, metrics)
    with SupportsStreamingUpdateAsAppend

private[iceberglite] object IcebergWriteBuilder {

  /** Returns the builder for a write with the given options. */
  def of(
      table: Table,
      info: LogicalWriteInfo,
      session: SparkSession,
      statementMerge: Option[SchemaMerge],
      followUps: Seq[CommitFollowUp],
      metrics: SinkMetrics
  ): IcebergWriteBuilder =
    if (UpsertOptions.isRequested(Settings.of(info.options, session, table.properties)))
      new UpsertWriteBuilder(table, info, session, statementMerge, followUps, metrics)
    else new IcebergWriteBuilder(table, info, session, statementMerge, followUps, metrics)

  def upsertThatOverwrites(table: String): Unsupported = Unsupported(
    s"an upsert into $table that overwrites, or adds columns",
    "Append the rows, and add columns with ALTER TABLE"
  )
}
