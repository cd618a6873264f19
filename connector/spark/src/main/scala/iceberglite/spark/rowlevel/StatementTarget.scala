package iceberglite.spark.rowlevel

import org.apache.spark.sql.SparkSession

import iceberglite.spark.conf.StatementOptions
import iceberglite.spark.write.{CommitFollowUp, SchemaMerge}
import iceberglite.spec.schema.Schema
import iceberglite.table.Table

/**
 * The options of a statement that changes a table, and the columns that the statement adds to the table.
 *
 * @param options the options of the statement
 * @param columns the columns of the statement's rows; the commit of the rows adds the columns that the table lacks
 * @param resolvedTable the version of the table when the statement was resolved
 * @param context the state of the statement, which the scans and the write of the statement share
 * @param followUps the maintenance that may follow the commit of the statement
 */
final private[iceberglite] class StatementTarget private (
    val options: StatementOptions,
    columns: Option[Schema],
    val resolvedTable: Option[Table],
    val context: StatementContext,
    val followUps: Seq[CommitFollowUp]
) {

  /** Returns the changes to the table's columns; absent if there are no changes. */
  def merge(table: Table): Option[SchemaMerge] =
    columns.flatMap(SchemaMerge.ofColumns(table, _, SparkSession.active.sessionState.conf.caseSensitiveAnalysis))

  /** Returns a target without options and added columns; absent if the statement adds no columns. */
  def withoutColumns: Option[StatementTarget] =
    columns.map(_ => new StatementTarget(StatementOptions.Empty, None, resolvedTable, context, followUps))

  /**
   * Returns the target for another run of the statement, with a new context.
   *
   * @param version the version of the table with which the run is planned
   */
  def forRerun(version: Table): StatementTarget = {
    val newContext = new StatementContext(isRerun = true)
    context.continueIn(newContext)
    new StatementTarget(options, columns, Some(version), newContext, followUps)
  }

  def withOptions(newOptions: StatementOptions, table: Table): StatementTarget =
    new StatementTarget(newOptions, columns, Some(resolvedTable.getOrElse(table)), context, followUps)

  def withColumns(newColumns: Schema, table: Table): StatementTarget =
    new StatementTarget(options, Some(newColumns), Some(resolvedTable.getOrElse(table)), context, followUps)
}

private[iceberglite] object StatementTarget {

  /** Returns the target of a statement that has no options and adds no columns. */
  def plain(followUps: Seq[CommitFollowUp] = Nil): StatementTarget =
    new StatementTarget(StatementOptions.Empty, None, None, new StatementContext, followUps)
}
