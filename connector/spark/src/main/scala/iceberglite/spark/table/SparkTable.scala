package iceberglite.spark.table

import java.util
import java.util.concurrent.atomic.AtomicReference

import scala.collection.JavaConverters._

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.catalog.{
  MetadataColumn,
  SupportsDeleteV2,
  SupportsMetadataColumns,
  SupportsRowLevelOperations,
  SupportsWrite,
  TableCapability
}
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.connector.expressions.filter.Predicate
import org.apache.spark.sql.connector.read.ScanBuilder
import org.apache.spark.sql.connector.read.streaming.ReportsSinkMetrics
import org.apache.spark.sql.connector.write.{
  LogicalWriteInfo,
  RowLevelOperation,
  RowLevelOperationBuilder,
  RowLevelOperationInfo,
  WriteBuilder
}
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import iceberglite.spark.catalog.TableDescription
import iceberglite.spark.changelog.{ChangelogTable, CommitRange}
import iceberglite.spark.conf.{
  BranchWriteInfo,
  ChangeStreamOptions,
  RangeOptions,
  StatementOptions,
  StatementWriteInfo,
  TimeTravel,
  WriteAuditPublish,
  WriteOptions
}
import iceberglite.spark.constraint.GenerationExpression
import iceberglite.spark.convert.{DeclaredTypes, PartitionTerm, SparkTypes}
import iceberglite.spark.error.ErrorBoundary
import iceberglite.spark.read.{IcebergScanBuilder, QueryParts, RowMetadataColumns}
import iceberglite.spark.rowlevel.{
  CopyOnWriteOperation,
  RowLevelStatement,
  StatementAnalysis,
  StatementContext,
  StatementTarget
}
import iceberglite.spark.session.PinnableTable
import iceberglite.spark.stream.sink.SinkMetrics
import iceberglite.spark.stream.source.{StreamedColumns, TableStreams}
import iceberglite.spark.write.{MetadataDelete, StatementRerun}
import iceberglite.spec.IcebergError.{CommitConflict, InvalidArgument, Unsupported}
import iceberglite.spec.expr.Expression
import iceberglite.spec.partition.Void
import iceberglite.spec.schema.Schema
import iceberglite.table.{KnownProperties, Table}
import iceberglite.spark.rowlevel.StatementColumns

/**
 * A table, a branch of a table, or an earlier snapshot of a table, for Spark.
 *
 * The columns are fixed when Spark resolves the table. The rows are read from the version that is current when a scan
 * is planned. Therefore, a DataFrame that was created before an INSERT of this session shows the new rows, as in Apache
 * Iceberg.
 *
 * @param source returns the current version of the table
 * @param travel selects the snapshot of the table
 * @param target the options and the added columns of the statement that changes the table
 * @param streamed selects the columns
 */
class SparkTable(
    source: () => Table,
    val travel: TimeTravel,
    target: StatementTarget = StatementTarget.plain(),
    private[iceberglite] val streamed: StreamedColumns = StreamedColumns.Current
) extends PinnableTable
    with SupportsWrite
    with SupportsDeleteV2
    with SupportsRowLevelOperations
    with SupportsMetadataColumns
    with ReportsSinkMetrics
    with PartitionManagement
    with ErrorBoundary {

  /** The version of the table when Spark resolved it, with the columns that the statement adds. */
  val table: Table = withNewColumns(target.resolvedTable.getOrElse(source()))

  private def withNewColumns(version: Table): Table = target.merge(version).fold(version)(_.merged)

  /**
   * The snapshot that a query reads if its read options select no snapshot. With `spark.wap.branch`, a session may read
   * another branch than `main`. This branch is fixed when the table is resolved. If it could change later, a cached
   * result could be recomputed from another snapshot.
   */
  private val defaultTravel: TimeTravel =
    if (travel != TimeTravel.Latest) travel
    else
      WriteAuditPublish.branchToRead(table.metadata, SparkSession.active).fold[TimeTravel](travel)(TimeTravel.OnBranch)

  private val resolvedSchema: Schema = streamed.read(travel, table.metadata)

  private lazy val sparkSchema: StructType = in {
    DeclaredTypes.withDeclaredTypes(SparkTypes.withDefaults(resolvedSchema), resolvedSchema.fields, table.properties)
  }

  override def name: String = table.name

  // Methods also create new objects of this class within `in`, because the constructor may fail.
  override protected def errorName: String = name

  override def schema: StructType = sparkSchema

  /** The columns for display, with Iceberg's names of types that Spark does not have ([[SparkTypes.displayed]]). */
  private[iceberglite] def displayedSchema: StructType = SparkTypes.displayed(sparkSchema, resolvedSchema.fields)

  override def partitioning: Array[Transform] = in(PartitionTerm.partitioning(table.metadata))

  override def properties: util.Map[String, String] = in(TableDescription.properties(table.metadata).asJava)

  override def capabilities: util.Set[TableCapability] = in {
    val always = Seq(
      TableCapability.BATCH_READ,
      TableCapability.MICRO_BATCH_READ,
      TableCapability.BATCH_WRITE,
      TableCapability.OVERWRITE_BY_FILTER,
      TableCapability.OVERWRITE_DYNAMIC,
      TableCapability.STREAMING_WRITE
    )
    val acceptsAny = table.properties.get(KnownProperties.AcceptAnySchema.key).exists(_.equalsIgnoreCase("true"))
    (always ++ (if (acceptsAny) Seq(TableCapability.ACCEPT_ANY_SCHEMA) else Nil)).toSet.asJava
  }

  override def metadataColumns: Array[MetadataColumn] = in(RowMetadataColumns.of(table.metadata))

  /**
   * Returns the version of the table that the current statement reads. A statement may read its table several times,
   * for example to find the files with rows to change, and then to read the rows. All reads use the same version.
   */
  private def current(): Table = context.startedStatement.fold(withNewColumns(source()))(_.table)

  override def newScanBuilder(options: CaseInsensitiveStringMap): ScanBuilder = in {
    val range = RangeOptions.ofAppends(options)
    if (range.isDefined) ChangeStreamOptions.rejectForOtherReads(options, name)
    val latest = if (range.isEmpty) current() else CommitRange.withAllSnapshots(current())
    val selection = selectedTravel(options)
    val appended = range.map(CommitRange.of(latest.metadata, selection, _))
    val snapshot = appended.fold(selection.snapshot(latest.metadata))(_.end)
    val session = SparkSession.active
    val streams =
      new TableStreams(latest, selection, streamed.current(travel, _), TableStreams.Appends, options, session)
    new IcebergScanBuilder(
      latest,
      snapshot,
      resolvedSchema,
      options,
      session,
      appended,
      query = QueryParts(if (appended.isEmpty) Some(streams) else None, latest.version.planner)
    )
  }

  /**
   * Returns the selection of the snapshot to read. Read options can select a snapshot if the name of the table does not
   * select one.
   */
  private def selectedTravel(options: CaseInsensitiveStringMap): TimeTravel = TimeTravel.ofOptions(options) match {
    case TimeTravel.Latest => defaultTravel
    case requested if travel == TimeTravel.Latest || travel == requested => requested
    case requested => throw InvalidArgument(
        "read options",
        requested.toString,
        s"$name already selects a state of the table, ${travel.selector}; remove one of them"
      )
  }

  override def newWriteBuilder(info: LogicalWriteInfo): WriteBuilder = in {
    val requested = if (target.options.isEmpty) info else new StatementWriteInfo(info, target.options)
    val branchInfo = branchToChange("write to").map(new BranchWriteInfo(requested, _))
    val latest = source()
    val session = SparkSession.active
    val writeInfo = branchInfo.getOrElse(requested)
    IcebergWriteBuilder.of(latest, writeInfo, session, target.merge(latest), target.followUps, sinkMetrics)
  }

  /** The query and the number of the micro-batch for which the newest version was loaded. */
  private val loadedFor = new AtomicReference(Option.empty[(String, Long)])

  /** Loads the newest version of the table from its catalog once for each micro-batch of a streaming query. */
  private[iceberglite] def loadNewest(query: String, batch: Option[Long]): Unit = in {
    val requested = batch.map(query -> _)
    if (requested.isEmpty || requested != loadedFor.get) {
      source().refresh()
      loadedFor.set(requested)
    }
  }

  private val sinkMetrics = new SinkMetrics

  /** Returns the metrics of the newest micro-batch if this table is the sink of a streaming query. */
  override def metrics: util.Map[String, String] = in(sinkMetrics.take())

  override private[iceberglite] def pinned: SparkTable = in {
    val latest = source()
    new SparkTable(() => latest, travel, target)
  }

  /** Returns the table with other columns, for a streaming read. */
  private[iceberglite] def withColumns(selected: StreamedColumns): SparkTable = in {
    new SparkTable(source, travel, target, selected)
  }

  /** Returns the changelog of the table. */
  private[iceberglite] def changes: ChangelogTable = in(new ChangelogTable(source, travel))

  /** Returns the `WITH` options of the statement for which the table is resolved. */
  private[iceberglite] def statementOptions: StatementOptions = target.options

  /**
   * Returns the table for a statement with options.
   *
   * @throws InvalidArgument if the name of the table and the options select different branches
   */
  private[iceberglite] def changedWith(options: StatementOptions): SparkTable = in {
    val selected = options.branch.fold(travel) { branch =>
      val requested = TimeTravel.OnBranch(branch)
      if (travel != TimeTravel.Latest && travel != requested) throw InvalidArgument(
        s"option ${WriteOptions.Branch.key}",
        branch,
        s"$name already selects a state of the table, ${travel.selector}; remove one of them"
      )
      requested
    }
    new SparkTable(source, selected, target.withOptions(options, table))
  }

  /**
   * Returns the table for a statement that adds columns.
   *
   * @param columns the columns of the statement's rows, matched by name
   */
  private[iceberglite] def changedWith(columns: Schema): SparkTable = in {
    new SparkTable(source, travel, target.withColumns(columns, table))
  }

  /**
   * Returns the table for another run of its statement, which does not share the state of the failed run. The run is
   * planned with the current version of the table. If the table now has other columns, it is planned with the version
   * of the first run, and [[begin]] reports the conflict.
   */
  private[iceberglite] def forRerun: SparkTable = in {
    val latest = source()
    val hasSameColumns = withNewColumns(latest).schema.fields == table.schema.fields
    new SparkTable(source, travel, target.forRerun(if (hasSameColumns) latest else table))
  }

  /** The state of the statement that Spark does not pass to a table. */
  private[iceberglite] def context: StatementContext = target.context

  /** Whether the mode of a command is copy-on-write, which rewrites whole files. */
  private[iceberglite] def copiesOnWrite(command: RowLevelOperation.Command): Boolean =
    in(StatementAnalysis.copiesOnWrite(table, command))

  /** Returns the metadata columns that a statement must copy from the rows that it reads to the rows that it writes. */
  private[iceberglite] def carryOverColumns(command: RowLevelOperation.Command): Seq[String] =
    in(StatementAnalysis.carryOverColumns(table, command))

  /**
   * Returns the source columns of the current partition spec. For a nested source field, this is the top-level column
   * that contains the field.
   */
  private[iceberglite] def partitionColumns: Set[String] =
    table.spec.fields.filter(_.transform != Void).flatMap(_.sourceIds).flatMap(table.schema.paths.get(_))
      .map(_.head).toSet

  /**
   * The generated columns with their expressions.
   *
   * @throws iceberglite.spark.error.StatementError if an expression is invalid; the message names the column
   */
  private[iceberglite] lazy val generatedColumns: Vector[GenerationExpression] =
    in(GenerationExpression.all(table.schema, table.properties, name))

  /** Returns the row lineage columns that are copied with unchanged rows; empty before version 3. */
  private[iceberglite] def lineage: Seq[String] = in(StatementAnalysis.lineageOf(table))

  /** Whether the number of remaining rows in the files of the table may be known only after reading the files. */
  private[iceberglite] def hasUncountedDeletes: Boolean = in {
    StatementAnalysis.hasUncountedDeletes(travel.snapshot(table.metadata))
  }

  /**
   * Returns the table with the columns that it has before the statement. Spark's cached plans contain the table with
   * these columns. Absent if the statement adds no columns.
   */
  private[iceberglite] def beforeStatement: Option[SparkTable] = in {
    target.withoutColumns.map(new SparkTable(source, travel, _))
  }

  override def newRowLevelOperationBuilder(info: RowLevelOperationInfo): RowLevelOperationBuilder = in {
    val operation = begin(info.command, info.command.toString).operation
    () => operation
  }

  /** Returns the row-level operation for an UPDATE. The plan of the UPDATE must read each row only once. */
  private[iceberglite] def update(): CopyOnWriteOperation = in {
    new CopyOnWriteOperation(begin(RowLevelOperation.Command.UPDATE, "UPDATE"))
  }

  /**
   * Returns the row-level operation for an overwrite that also rewrites rows that do not satisfy the condition. Its
   * command is UPDATE. With the command DELETE, Spark would lose the new rows if whole files can be deleted.
   *
   * @param rerun runs the overwrite again; absent if this is not possible
   */
  private[iceberglite] def overwrite(rerun: Option[StatementRerun]): RowLevelOperation = in {
    context.publish(context.analysis, rerun)
    context.publishExactVariants()
    WriteOptions.check(target.options.asOptions, SparkSession.active)
    target.options.checkOverwriteByCondition(name)
    if (target.options.isUpsert) throw IcebergWriteBuilder.upsertThatOverwrites(name)
    new CopyOnWriteOperation(begin(RowLevelOperation.Command.UPDATE, "overwrite"), overwrites = true)
  }

  private def begin(command: RowLevelOperation.Command, verb: String): RowLevelStatement = {
    val branch = branchToChange(verb)
    val session = SparkSession.active
    val latest = source()
    val merge = target.merge(latest)
    val writeTarget = WriteAuditPublish.target(latest, branch, session)
    val tableToRead = merge.fold(latest)(_.merged)
    if (tableToRead.schema.fields != resolvedSchema.fields)
      throw CommitConflict(name, "its columns changed after the statement was analyzed")
    val statement = new RowLevelStatement(
      tableToRead,
      StatementColumns(resolvedSchema, merge),
      command,
      writeTarget,
      session,
      context,
      target.options,
      target.followUps
    )
    context.start(statement)
    statement
  }

  /**
   * Whether the rows can be deleted by deleting whole files. This requires that no file contains both rows to delete
   * and rows to keep.
   */
  override def canDeleteWhere(predicates: Array[Predicate]): Boolean = in {
    MetadataDelete.canDelete(current(), branchToChange("DELETE from"), predicates, SparkSession.active)
  }

  override def deleteWhere(predicates: Array[Predicate]): Unit = in {
    MetadataDelete.delete(source(), branchToChange("DELETE from"), predicates, target.options, SparkSession.active)
  }

  override protected def partitions: TablePartitions = in {
    val version = current()
    new TablePartitions(version, defaultTravel.snapshot(version.metadata))
  }

  override protected def deleteFiles(condition: Expression): Unit = in {
    MetadataDelete.delete(source(), branchToChange("DROP PARTITION of"), condition, target.options, SparkSession.active)
  }

  /**
   * Returns the branch that the table's name selects; absent if the name selects no branch.
   *
   * @throws Unsupported if the name selects a snapshot, which is read-only
   */
  private def branchToChange(verb: String): Option[String] = travel match {
    case TimeTravel.Latest => None
    case TimeTravel.OnBranch(branch) => Some(branch)
    case state =>
      val advice = "Only the table itself and its branches can be changed"
      throw Unsupported.operation(s"$name at ${state.selector}", verb, advice)
  }

  override def toString: String = name

  /** Whether Spark may use the cached result of a query on one table for the same query on the other table. */
  override def equals(that: Any): Boolean = that match {
    case other: SparkTable =>
      other.name == name && other.defaultTravel == defaultTravel && other.table.metadata.uuid == table.metadata.uuid
    case _ => false
  }

  override def hashCode: Int = (name, defaultTravel).hashCode
}
