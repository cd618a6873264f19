package iceberglite.spark.sql

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

/**
 * A statement that Spark does not have, about the maintenance, the history, or the branches and tags of a table. Each
 * statement is listed in [[TableStatement.all]].
 */
trait TableStatement {

  /** The name of the statement, for messages. */
  def name: String

  /** Consumes the words before the name of the table, if they are next. @return whether they were next */
  def begin(reader: SqlReader): Boolean

  /**
   * Parses the text after the name of the table.
   *
   * @param table the table, which Spark resolves
   */
  def parse(table: LogicalPlan, reader: SqlReader, expressions: SqlExpressions): LogicalPlan
}

object TableStatement {
  val all: Seq[TableStatement] =
    Seq(OptimizeTable, VacuumTable, DescribeHistory, RestoreTable) ++ RefKind.all.map(new ShowRefs.Statement(_))
}
