package iceberglite.spark.write

import java.util.concurrent.atomic.AtomicReference

import org.apache.spark.sql.SparkSession

import iceberglite.spark.conf.StatementOptions
import iceberglite.spark.write.rows.RowLevelStatement
import iceberglite.spec.Schema
import iceberglite.table.Table

/**
 * What a statement makes of a table that it changes.
 *
 * @param options of the statement
 * @param columns what the statement's rows have: the table gets those that it lacks, in the commit of the rows
 * @param seen the table as the statement was resolved with
 * @param running the statement, once it runs; shared with the objects by which it reads the table besides
 */
final private[spark] class StatementTarget private (
    val options: StatementOptions,
    columns: Option[Schema],
    val seen: Option[Table],
    val running: AtomicReference[Option[RowLevelStatement]]
) {

  /** What is to be added to the columns of the table; absent where nothing is. */
  def merge(table: Table): Option[SchemaMerge] =
    columns.flatMap(SchemaMerge.ofColumns(table, _, SparkSession.active.sessionState.conf.caseSensitiveAnalysis))

  /** The same of the table as it was resolved; absent where the statement adds no columns. */
  def withoutColumns: Option[StatementTarget] =
    columns.map(_ => new StatementTarget(StatementOptions.Empty, None, seen, running))

  def withOptions(given: StatementOptions, table: Table): StatementTarget =
    new StatementTarget(given, columns, Some(seen.getOrElse(table)), running)

  def withColumns(wanted: Schema, table: Table): StatementTarget =
    new StatementTarget(options, Some(wanted), Some(seen.getOrElse(table)), running)
}

private[spark] object StatementTarget {

  /** Of a table as any statement finds it. */
  def plain(): StatementTarget =
    new StatementTarget(StatementOptions.Empty, None, None, new AtomicReference[Option[RowLevelStatement]](None))
}
