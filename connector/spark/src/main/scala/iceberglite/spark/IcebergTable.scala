package iceberglite.spark

import java.util.UUID

import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.analysis.{UnresolvedAttribute, UnresolvedRelation}
import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.catalyst.parser.CatalystSqlParser
import org.apache.spark.sql.catalyst.plans.logical.{
  Assignment,
  DeleteFromTable,
  LogicalPlan,
  SubqueryAlias,
  UpdateTable
}
import org.apache.spark.sql.connector.catalog.Identifier
import org.apache.spark.sql.iceberglite.Statements
import org.apache.spark.sql.{DataFrame, DataFrameWriterV2, Row, SparkSession}
import org.slf4j.LoggerFactory

import iceberglite.spark.catalog.{CachedPlans, TableEvolution}
import iceberglite.spark.changelog.CommitRange
import iceberglite.spark.conf.{StatementOptions, WriteOptions}
import iceberglite.spark.error.{ErrorBoundary, SparkErrors}
import iceberglite.spark.session.{CatalogNames, LiteCatalog}
import iceberglite.spark.sql.{HoldRowLevelCommands, RetriedStatement, RowStatements, StatementWithOptions}
import iceberglite.spark.table.SparkTable
import iceberglite.spec.IcebergError.{InvalidArgument, NotFound, Unsupported}
import iceberglite.spec.ObjectKind
import iceberglite.spec.metadata.Snapshot
import iceberglite.table.Table

/**
 * A table whose rows can be changed by method calls instead of SQL statements:
 *
 * {{{
 * val t = IcebergTable.forName(spark, "lite.db.t")
 * t.delete("day < DATE '2020-01-01'")
 * t.replaceWhere(corrected, "day = DATE '2026-01-01'")
 * t.retries(3).merge(changes, "target.id = source.id").whenMatchedUpdateAll().whenNotMatchedInsertAll().execute()
 * }}}
 *
 * The object does not cache the table, so it can be reused after commits. A condition is a boolean column or SQL text.
 * The methods `delete`, `update`, `merge` and `evolve` need the extensions of [[SparkSessionExtensions]] in the
 * session.
 */
final class IcebergTable private (
    val spark: SparkSession,
    val name: String,
    parts: Seq[String],
    val options: Map[String, String]
) extends ErrorBoundary
    with TableMaintenanceCalls
    with TableRelocationCalls
    with TableStorageCalls
    with TableWriteCalls {

  /** Returns the current rows of the table. */
  def toDF: DataFrame = spark.table(name)

  /** Returns an object for the same table, with an additional option for its statements and writes. */
  def option(key: String, value: String): IcebergTable = new IcebergTable(spark, name, parts, options + (key -> value))

  /**
   * Returns an object for the same table, with a maximum number of retries for its statements and writes. A statement
   * or write is run again if its commit conflicts with another commit. If the source of the statement or write is a
   * cached DataFrame with rows of this table, these rows are not read again, so the retry overwrites changes of these
   * rows by the other commit.
   */
  def retries(times: Int): IcebergTable = option(StatementOptions.Retries.key, times.toString)

  /** Deletes all rows. Earlier snapshots keep the deleted rows. */
  def deleteAll(): RowChanges = run("DELETE", DeleteFromTable(relation, Literal.TrueLiteral))

  /** Always fails, because the condition is missing; [[deleteAll]] deletes all rows. */
  def delete(): RowChanges = throw SparkErrors.of(
    name,
    InvalidArgument("condition of DELETE", "none", "Specify a condition, or call deleteAll() to delete all rows")
  )

  /** Deletes the rows that satisfy a condition. */
  def delete(condition: Condition): RowChanges = run("DELETE", DeleteFromTable(relation, condition.expression))

  /**
   * Updates all rows.
   *
   * @param set the new values by column name, as columns or as SQL; a field of a struct has a name such as
   *   `address.city`
   */
  def update[V: SqlValue](set: Map[String, V]): RowChanges =
    run("UPDATE", UpdateTable(relation, assignments(set), None))

  /** Updates the rows that satisfy a condition. @param set the new values by column name, as columns or as SQL */
  def update[V: SqlValue](condition: Condition, set: Map[String, V]): RowChanges =
    run("UPDATE", UpdateTable(relation, assignments(set), Some(condition.expression)))

  /**
   * Returns a builder of a MERGE statement into this table. Its method `execute` runs the statement.
   *
   * @param source the source rows. Conditions and values refer to a column of the source as `source.c`, and to a column
   *   of this table as `target.c`.
   * @param on the condition under which a source row matches a row of this table
   */
  def merge(source: DataFrame, on: Condition): MergeStatement =
    new MergeStatement(this, SubqueryAlias("source", source.queryExecution.analyzed), on)

  private[iceberglite] def relation: LogicalPlan = UnresolvedRelation(parts)

  /** Returns a builder of changes to the table's metadata. Its method `execute` makes the changes in one commit. */
  def evolve(): EvolveStatement = new EvolveStatement(this)

  private[iceberglite] def commit(steps: Seq[TableEvolution => TableEvolution.Step]): Unit = in {
    requireExtensions("metadata")
    val (catalog, ident) = resolved
    val evolution = new TableEvolution(spark, catalog, ident)
    evolution.commit(steps.map(step => step(evolution)))
    ()
  }

  private[iceberglite] def assignments[V](set: Map[String, V])(implicit kind: SqlValue[V]): Seq[Assignment] =
    set.toSeq.map { case (column, value) =>
      Assignment(UnresolvedAttribute(CatalystSqlParser.parseMultipartIdentifier(column)), kind.expression(value))
    }

  /**
   * Runs a statement and returns the numbers of rows that it changed.
   *
   * @param verb the first keyword of the statement: DELETE, UPDATE or MERGE
   * @param evolvesSchema whether a MERGE may add columns to the table and widen the types of its columns
   * @throws iceberglite.spark.error.StatementError if the statement does not support one of the options
   */
  private[iceberglite] def run(verb: String, statement: LogicalPlan, evolvesSchema: Boolean = false): RowChanges = {
    val id = UUID.randomUUID().toString
    val statementOptions =
      StatementOptions(options + (s"${WriteOptions.SnapshotPropertyPrefix}${RowChanges.StatementId}" -> id))
    in {
      requireExtensions("rows")
      StatementOptions.check(verb, statementOptions)
      val held = new HoldRowLevelCommands(spark)(statement)
      val planned = RowStatements.planned(verb, statementOptions, evolvesSchema, held)
      Statements.run(spark, RetriedStatement.of(parts, planned, StatementOptions.retries(statementOptions, spark)))
      snapshotOf(currentTable, id).fold(RowChanges.NoChange)(RowChanges.of)
    }
  }

  override protected def write(
      rows: DataFrame,
      options: => Map[String, String],
      counts: (Table, Snapshot) => WrittenRows
  )(action: DataFrameWriterV2[Row] => Unit): WrittenRows = in {
    val id = UUID.randomUUID().toString
    val statementOptions = StatementOptions(
      this.options ++ options + (s"${WriteOptions.SnapshotPropertyPrefix}${RowChanges.StatementId}" -> id)
    )
    val writeOptions = statementOptions.without(StatementOptions.Retries).values
    RetriedStatement.retried(rows.sparkSession, parts, statementOptions.retries) {
      action(writeOptions.foldLeft(rows.writeTo(name)) { case (writer, (key, value)) => writer.option(key, value) })
    }
    // An error would suggest that nothing was written, and a caller might repeat the write.
    try {
      val table = currentTable(rows.sparkSession)
      snapshotOf(table, id).fold(WrittenRows.NoChange)(counts(table, _))
    } catch {
      case NonFatal(error) =>
        IcebergTable.log.warn(s"The rows were written to $name, but the numbers of changed rows cannot be read", error)
        WrittenRows.Unknown
    }
  }

  /** Returns the snapshot that a statement or write with the given id created; absent if it changed nothing. */
  private def snapshotOf(table: Table, id: String): Option[Snapshot] =
    CommitRange.withAllSnapshots(table).metadata.snapshots.find(_.summary.get(RowChanges.StatementId).contains(id))

  /** Rejects sessions without the extensions. @param changed what the statement changes, for messages */
  private def requireExtensions(changed: String): Unit = if (!IcebergTable.hasExtensions(spark)) throw Unsupported(
    s"changing the $changed of $name in a session without the extensions of iceberg-lite",
    "Add iceberglite.spark.SparkSessionExtensions to spark.sql.extensions"
  )

  private def currentTable: Table = currentTable(spark)

  private def currentTable(session: SparkSession): Table = resolved(session) match {
    case (catalog, ident) => catalog.loadTable(ident) match {
        case table: SparkTable => table.table
        case _ => notIcebergTable
      }
  }

  private def resolved: (LiteCatalog, Identifier) = resolved(spark)

  private def resolved(session: SparkSession): (LiteCatalog, Identifier) = CatalogNames.resolve(session, parts) match {
    case (catalog: LiteCatalog, ident) => (catalog, ident)
    case _ => notIcebergTable
  }

  override protected def change[A](work: Table => (Table, A)): A = in {
    val (catalog, ident) = resolved
    val before = currentTable
    val (after, result) = work(before)
    CachedPlans.refresh(spark, catalog, ident, before.metadata, after.metadata)
    result
  }

  private def notIcebergTable: Nothing = throw NotFound(
    ObjectKind.Table,
    name,
    "The name does not refer to a table of an iceberg-lite catalog; begin it with the name of such a catalog"
  )

  override protected def errorName: String = name

  override def toString: String = s"IcebergTable($name)"
}

object IcebergTable {
  private val log = LoggerFactory.getLogger(classOf[IcebergTable])

  /**
   * Returns the table with the given name.
   *
   * @param name the name in SQL: `catalog.db.t`, `db.t` for a table in the current catalog, or `catalog.db.t.branch_b`
   *   for a branch
   * @throws org.apache.spark.sql.AnalysisException if the table does not exist
   */
  def forName(spark: SparkSession, name: String): IcebergTable = {
    val table = new IcebergTable(spark, name, spark.sessionState.sqlParser.parseMultipartIdentifier(name), Map.empty)
    table.in(table.currentTable)
    table
  }

  private def hasExtensions(spark: SparkSession): Boolean =
    spark.sessionState.analyzer.extendedResolutionRules.contains(StatementWithOptions)
}
