package iceberglite.spark

import java.util
import java.util.Optional

import scala.collection.JavaConverters._

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.catalog.{
  MetadataColumn,
  SupportsDeleteV2,
  SupportsMetadataColumns,
  SupportsRead,
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
import iceberglite.spark.conf.{RangeOptions, WriteOptions}
import iceberglite.spark.convert.SparkTypes
import iceberglite.spark.read.IcebergScanBuilder
import iceberglite.spark.read.changes.CommitRange
import iceberglite.spark.write.rows.RowLevelStatement
import iceberglite.spark.write.{IcebergWriteBuilder, MetadataDelete}
import iceberglite.spec.IcebergError.{InvalidArgument, Unsupported}
import iceberglite.spec.Schema
import iceberglite.table.Table

/**
 * A table, or an earlier state of one, as Spark sees it.
 *
 * Its columns are those at the time it was resolved. Its rows are those at the time a scan is planned, so that a data
 * frame made before an INSERT of this session shows the new rows, as with Apache Iceberg.
 *
 * @param source gives the table as it is now
 * @param travel which state of it is meant
 */
class SparkTable(source: () => Table, val travel: TimeTravel)
    extends SupportsRead
    with SupportsWrite
    with SupportsDeleteV2
    with SupportsRowLevelOperations
    with SupportsMetadataColumns {

  /** The table at the version it was resolved at. */
  val table: Table = source()

  /**
   * The state that a query without more ado shows: a session may have a branch in the place of the table. A query keeps
   * it, or a result that Spark keeps could be made anew from another state than it was made from.
   */
  private val shown: TimeTravel = SparkErrors.in(table.name) {
    if (travel != TimeTravel.Latest) travel
    else AuditFirst.branchToRead(table.metadata, SparkSession.active).fold[TimeTravel](travel)(TimeTravel.OnBranch)
  }

  private val columnsSeen: Schema = SparkErrors.in(table.name)(travel.schema(table.metadata))

  private lazy val sparkSchema: StructType = SparkErrors.in(table.name)(SparkTypes.withDefaults(columnsSeen))

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

  /** The statement that changes rows of the table by this object, if there is one. */
  @volatile private var statement: Option[RowLevelStatement] = None

  /**
   * A statement may read its table several times: for the files with rows to change, and for the rows. It sees one state
   * of it.
   */
  private def current(): Table = statement.fold(source())(_.table)

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
        s"$name already stands for a state of the table, ${travel.selector}; leave one of them out"
      )
  }

  override def newWriteBuilder(info: LogicalWriteInfo): WriteBuilder = SparkErrors.in(name) {
    val onBranch = branchToChange("write to").map(new BranchWriteInfo(info, _))
    new IcebergWriteBuilder(source(), onBranch.getOrElse(info), SparkSession.active)
  }

  /**
   * Whether the rows of a statement that changes this table come to the write in the tasks that read them. Spark does not
   * tell a table; [[iceberglite.spark.rules.RowLevelPlans]] does, which sees the plan. It never says so of MERGE.
   */
  @volatile private[spark] var rowsStayInTasks: Boolean = false

  /** The metadata columns that a statement that changes this table names. */
  @volatile private[spark] var namedMetadata: Seq[String] = Nil

  private[spark] def losesLineage(command: RowLevelOperation.Command): Boolean =
    SparkErrors.in(name)(RowLevelStatement.losesLineage(table, command))

  override def newRowLevelOperationBuilder(info: RowLevelOperationInfo): RowLevelOperationBuilder =
    SparkErrors.in(name) {
      val branch = branchToChange(info.command.toString)
      val session = SparkSession.active
      val now = source()
      val target = AuditFirst.target(now, branch, session)
      val begun = new RowLevelStatement(now, columnsSeen, info.command, target, session, rowsStayInTasks, namedMetadata)
      statement = Some(begun)
      () => begun.operation
    }

  /** Whether no file has both rows that go and rows that stay. */
  override def canDeleteWhere(predicates: Array[Predicate]): Boolean = SparkErrors.in(name) {
    MetadataDelete.canDelete(current(), branchToChange("DELETE from"), predicates, SparkSession.active)
  }

  override def deleteWhere(predicates: Array[Predicate]): Unit = SparkErrors.in(name) {
    MetadataDelete.delete(source(), branchToChange("DELETE from"), predicates, SparkSession.active)
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

/** What is written to the name of a branch, `t.branch_b`, as if the write option `branch` had said so. */
final private class BranchWriteInfo(info: LogicalWriteInfo, branch: String) extends LogicalWriteInfo {
  private val key = WriteOptions.Branch.key

  Option(info.options.get(key)).filter(_ != branch).foreach { other =>
    throw InvalidArgument(s"write option $key", other, s"The table's name says $branch; leave one of them out")
  }

  override def options: CaseInsensitiveStringMap = {
    val others = info.options.asCaseSensitiveMap.asScala.toMap.filterKeys(!_.equalsIgnoreCase(key))
    new CaseInsensitiveStringMap((others + (key -> branch)).asJava)
  }
  override def queryId: String = info.queryId
  override def schema: StructType = info.schema
  override def rowIdSchema: Optional[StructType] = info.rowIdSchema
  override def metadataSchema: Optional[StructType] = info.metadataSchema
}
