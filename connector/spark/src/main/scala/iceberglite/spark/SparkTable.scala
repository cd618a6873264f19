package iceberglite.spark

import java.util

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
import org.apache.spark.sql.connector.write.{
  LogicalWriteInfo,
  RowLevelOperation,
  RowLevelOperationBuilder,
  RowLevelOperationInfo,
  WriteBuilder
}
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import iceberglite.spark.catalog.{PartitionTerm, TableDescription}
import iceberglite.spark.conf.{RangeOptions, StatementOptions, WriteOptions}
import iceberglite.spark.convert.{DeclaredTypes, SparkTypes}
import iceberglite.spark.read.IcebergScanBuilder
import iceberglite.spark.read.changes.CommitRange
import iceberglite.spark.write.rows.{CopyOnWrite, RowLevelStatement, StatementFacts}
import iceberglite.spark.write.{IcebergWriteBuilder, MetadataDelete, StatementTarget}
import iceberglite.spec.IcebergError.{CommitConflict, InvalidArgument, Unsupported}
import iceberglite.spec.Schema
import iceberglite.spec.transform.Void
import iceberglite.table.Table

/**
 * A table, or an earlier state of one, as Spark sees it.
 *
 * Its columns are those at the time it was resolved. Its rows are those at the time a scan is planned, so that a data
 * frame made before an INSERT of this session shows the new rows, as with Apache Iceberg.
 *
 * @param source gives the table as it is now
 * @param travel which state of it is meant
 * @param of what the statement that changes the table asks for
 */
class SparkTable(source: () => Table, val travel: TimeTravel, of: StatementTarget = StatementTarget.plain())
    extends LiveRead
    with SupportsWrite
    with SupportsDeleteV2
    with SupportsRowLevelOperations
    with SupportsMetadataColumns {

  /** The table at the version it was resolved at. */
  val table: Table = withNewColumns(of.seen.getOrElse(source()))

  private def withNewColumns(now: Table): Table = SparkErrors.in(now.name)(of.merge(now).fold(now)(_.merged))

  /**
   * The state that a query without more ado shows: a session may have a branch in the place of the table. A query keeps
   * it, or a result that Spark keeps could be made anew from another state than it was made from.
   */
  private val shown: TimeTravel = SparkErrors.in(table.name) {
    if (travel != TimeTravel.Latest) travel
    else AuditFirst.branchToRead(table.metadata, SparkSession.active).fold[TimeTravel](travel)(TimeTravel.OnBranch)
  }

  private val columnsSeen: Schema = SparkErrors.in(table.name)(travel.schema(table.metadata))

  private lazy val sparkSchema: StructType = SparkErrors.in(table.name) {
    DeclaredTypes.shown(SparkTypes.withDefaults(columnsSeen), columnsSeen.fields, table.properties)
  }

  override def name: String = table.name

  override def schema: StructType = sparkSchema

  override def partitioning: Array[Transform] = PartitionTerm.partitioning(table.metadata)

  override def properties: util.Map[String, String] = TableDescription.properties(table.metadata).asJava

  override def capabilities: util.Set[TableCapability] = {
    val always = Seq(
      TableCapability.BATCH_READ,
      TableCapability.BATCH_WRITE,
      TableCapability.OVERWRITE_BY_FILTER,
      TableCapability.OVERWRITE_DYNAMIC
    )
    val acceptsAny = table.properties.get("write.spark.accept-any-schema").exists(_.equalsIgnoreCase("true"))
    (always ++ (if (acceptsAny) Seq(TableCapability.ACCEPT_ANY_SCHEMA) else Nil)).toSet.asJava
  }

  override def metadataColumns: Array[MetadataColumn] = RowMetadataColumns.of(table.metadata)

  /**
   * A statement may read its table several times: for the files with rows to change, and for the rows. It sees one state
   * of it.
   */
  private def current(): Table = of.running.get.fold(withNewColumns(source()))(_.table)

  override def newScanBuilder(options: CaseInsensitiveStringMap): ScanBuilder = SparkErrors.in(name) {
    val range = RangeOptions.ofAppends(options)
    val now = if (range.isEmpty) current() else CommitRange.whole(current())
    val state = chosen(options)
    val appended = range.map(CommitRange.of(now.metadata, state, _))
    val snapshot = appended.fold(state.snapshot(now.metadata))(_.end)
    new IcebergScanBuilder(now, snapshot, columnsSeen, options, SparkSession.active, appended)
  }

  /** The state to read: options may choose one where the name did not. */
  private def chosen(options: CaseInsensitiveStringMap): TimeTravel = TimeTravel.ofOptions(options) match {
    case TimeTravel.Latest => shown
    case asked if travel == TimeTravel.Latest || travel == asked => asked
    case asked => throw InvalidArgument(
        "read options",
        asked.toString,
        s"$name already selects a state of the table, ${travel.selector}; remove one of them"
      )
  }

  override def newWriteBuilder(info: LogicalWriteInfo): WriteBuilder = SparkErrors.in(name) {
    val asked = if (of.options.isEmpty) info else new StatementWriteInfo(info, of.options)
    val onBranch = branchToChange("write to").map(new BranchWriteInfo(asked, _))
    val now = source()
    new IcebergWriteBuilder(now, onBranch.getOrElse(asked), SparkSession.active, of.merge(now))
  }

  override private[spark] def pinned: SparkTable = {
    val now = source()
    new SparkTable(() => now, travel, of)
  }

  /** What the statement that the table is resolved for asks for by WITH. */
  private[spark] def statementOptions: StatementOptions = of.options

  /** The table as a statement with options changes it. @throws InvalidArgument the name says another branch */
  private[spark] def changedWith(options: StatementOptions): SparkTable = SparkErrors.in(name) {
    val at = options.branch.fold(travel) { branch =>
      val asked = TimeTravel.OnBranch(branch)
      if (travel != TimeTravel.Latest && travel != asked) throw InvalidArgument(
        s"option ${WriteOptions.Branch.key}",
        branch,
        s"$name already selects a state of the table, ${travel.selector}; remove one of them"
      )
      asked
    }
    new SparkTable(source, at, of.withOptions(options, table))
  }

  /** The table as a statement changes it that adds columns to it. @param wanted what its rows have, found by name */
  private[spark] def changedWith(wanted: Schema): SparkTable =
    new SparkTable(source, travel, of.withColumns(wanted, table))

  /** What Spark does not tell a table of the statement that changes it; [[iceberglite.spark.rules.RowLevelPlans]] does. */
  @volatile private[spark] var facts: StatementFacts = StatementFacts()

  /** Whether a statement writes files anew. */
  private[spark] def copiesOnWrite(command: RowLevelOperation.Command): Boolean =
    SparkErrors.in(name)(StatementFacts.copiesOnWrite(table, command))

  /** The metadata columns that a statement has to carry from the rows it reads to those it writes. */
  private[spark] def carriedBy(command: RowLevelOperation.Command): Seq[String] =
    SparkErrors.in(name)(StatementFacts.carriedBy(table, command))

  /** The columns that rows are partitioned by now; of nested fields, the columns that hold them. */
  private[spark] def partitionColumns: Set[String] =
    table.spec.fields.filter(_.transform != Void).flatMap(_.sourceIds).flatMap(table.schema.paths.get(_))
      .map(_.head).toSet

  /** The metadata columns of rows that are copied as they are. */
  private[spark] def lineage: Seq[String] = SparkErrors.in(name)(StatementFacts.lineageOf(table))

  /** Whether only reading tells how many rows the table's files have left. */
  private[spark] def hasUncountedDeletes: Boolean = SparkErrors.in(name) {
    StatementFacts.hasUncountedDeletes(travel.snapshot(table.metadata))
  }

  /** The table as Spark has cached it before the statement; absent where the statement adds no columns. */
  private[spark] def beforeStatement: Option[SparkTable] = of.withoutColumns.map(new SparkTable(source, travel, _))

  override def newRowLevelOperationBuilder(info: RowLevelOperationInfo): RowLevelOperationBuilder =
    SparkErrors.in(name) {
      val begun = begin(info.command, info.command.toString)
      () => begun.operation
    }

  /** An UPDATE that reads each row once. */
  private[spark] def update(): CopyOnWrite = SparkErrors.in(name) {
    new CopyOnWrite(begin(RowLevelOperation.Command.UPDATE, "UPDATE"))
  }

  /**
   * An overwrite of rows whose files hold others too: those are written anew. For Spark it is an UPDATE: of a DELETE it
   * would forget the new rows where whole files can go.
   */
  private[spark] def overwrite(): RowLevelOperation = SparkErrors.in(name) {
    WriteOptions.check(of.options.asOptions, SparkSession.active)
    of.options.checkOverwriteByCondition(name)
    if (of.options.upserts) throw IcebergWriteBuilder.upsertThatOverwrites(name)
    new CopyOnWrite(begin(RowLevelOperation.Command.UPDATE, "overwrite"), overwrites = true)
  }

  private def begin(command: RowLevelOperation.Command, verb: String): RowLevelStatement = {
    val branch = branchToChange(verb)
    val session = SparkSession.active
    val now = source()
    val merge = of.merge(now)
    val target = AuditFirst.target(now, branch, session)
    val read = merge.fold(now)(_.merged)
    if (read.schema.fields != columnsSeen.fields)
      throw CommitConflict(name, "its columns changed after the statement was analyzed. Run it again")
    val begun = new RowLevelStatement(read, columnsSeen, command, target, session, facts, of.options, merge)
    of.running.set(Some(begun))
    begun
  }

  /** Whether no file has both rows that go and rows that stay. */
  override def canDeleteWhere(predicates: Array[Predicate]): Boolean = SparkErrors.in(name) {
    MetadataDelete.canDelete(current(), branchToChange("DELETE from"), predicates, SparkSession.active)
  }

  override def deleteWhere(predicates: Array[Predicate]): Unit = SparkErrors.in(name) {
    MetadataDelete.delete(source(), branchToChange("DELETE from"), predicates, of.options, SparkSession.active)
  }

  /** The branch that the table's name says. @throws Unsupported for a state that stands still */
  private def branchToChange(verb: String): Option[String] = travel match {
    case TimeTravel.Latest => None
    case TimeTravel.OnBranch(branch) => Some(branch)
    case state => throw Unsupported(
        s"$verb $name at ${state.selector}",
        s"Only the table itself and its branches can be changed: $verb $name"
      )
  }

  override def toString: String = name

  /** Equal where a cached query on one answers a query on the other. */
  override def equals(that: Any): Boolean = that match {
    case other: SparkTable =>
      other.name == name && other.shown == shown && other.table.metadata.uuid == table.metadata.uuid
    case _ => false
  }

  override def hashCode: Int = (name, shown).hashCode
}
