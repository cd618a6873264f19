package iceberglite.spark.sql

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.parser.ParserInterface
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, MergeIntoTable}
import org.apache.spark.sql.execution.command.ExplainCommand

import iceberglite.spark.conf.StatementOptions
import iceberglite.spark.error.SparkErrors

/**
 * DELETE, UPDATE, MERGE and INSERT with syntax that Spark 3.5 does not support: options after the table's name, and
 * MERGE WITH SCHEMA EVOLUTION. Spark's parser parses all other syntax.
 *
 * @param isIcebergTable whether a name, as written in the statement, is the name of an iceberg-lite table
 */
final private[iceberglite] class RowStatements(
    session: SparkSession,
    delegate: ParserInterface,
    isIcebergTable: Seq[String] => Boolean
) {
  private val hold = new HoldRowLevelCommands(session)

  /**
   * Parses a statement on an iceberg-lite table that uses the connector's own syntax or may be retried; absent for
   * other statements.
   *
   * @param reader a reader at the beginning of the statement
   */
  def parse(reader: SqlReader): Option[LogicalPlan] = RowStatement.begin(new SqlReader(reader.sql)).filter { s =>
    (s.extensionRanges.nonEmpty || retries(s) > 0) && isIcebergTable(s.table)
  }.map { statement =>
    in(statement)(StatementOptions.check(statement.verb, statement.options))
    hold(delegate.parsePlan(statement.plainText(reader.sql))) match {
      case explain: ExplainCommand => explain.copy(logicalPlan = planned(statement, explain.logicalPlan))
      case plan => RetriedStatement.of(statement.table, planned(statement, plan), retries(statement))
    }
  }

  private def retries(statement: RowStatement): Int =
    if (statement.verb == "INSERT") 0
    else in(statement)(StatementOptions.retries(statement.options, session))

  private def in[A](statement: RowStatement)(operation: => A): A =
    SparkErrors.in(statement.table.mkString("."))(operation)

  private def planned(statement: RowStatement, plan: LogicalPlan): LogicalPlan =
    RowStatements.planned(statement.verb, statement.options, statement.evolves, plan)
}

private[iceberglite] object RowStatements {

  /**
   * Adds the options and the schema evolution of a statement to its plan.
   *
   * @param plan the plan of the statement from Spark's parser
   */
  def planned(verb: String, options: StatementOptions, evolves: Boolean, plan: LogicalPlan): LogicalPlan = {
    val tableOptions = if (verb == "INSERT") options else options.tableOptions
    val evolving =
      if (verb == "MERGE" && (evolves || options.mergesSchema)) plan.transform { case m: MergeIntoTable =>
        EvolvingMerge.of(m)
      }
      else plan
    val checked = MetadataAssignments.checked(evolving)
    if (tableOptions.isEmpty) checked else StatementWithOptions(checked, tableOptions)
  }
}
