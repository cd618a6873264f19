package org.apache.spark.sql.iceberglite

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.connector.catalog.{SupportsRowLevelOperations, Table}
import org.apache.spark.sql.connector.write.{RowLevelOperation, RowLevelOperationTable}
import org.apache.spark.sql.{DataFrame, Dataset, SparkSession}

/** Calls Spark methods that are accessible only in Spark's packages. */
object Statements {

  /** Runs a logical plan as a statement. */
  def run(session: SparkSession, statement: LogicalPlan): Unit = {
    Dataset.ofRows(session, statement)
    ()
  }

  /** Runs a logical plan that is not a statement. Spark's web UI shows it as a separate query. */
  def execute(session: SparkSession, plan: LogicalPlan): Unit = {
    Dataset.ofRows(session, plan).collect()
    ()
  }

  /** Returns the rows of a logical plan. */
  def dataset(session: SparkSession, plan: LogicalPlan): DataFrame = Dataset.ofRows(session, plan)

  /** Returns the table with which Spark plans the reads and writes of a row-level operation. */
  def rowLevelTable(table: Table with SupportsRowLevelOperations, operation: RowLevelOperation): Table =
    RowLevelOperationTable(table, operation)
}
