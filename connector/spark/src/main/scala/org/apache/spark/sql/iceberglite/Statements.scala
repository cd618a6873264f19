package org.apache.spark.sql.iceberglite

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.connector.catalog.{SupportsRowLevelOperations, Table}
import org.apache.spark.sql.connector.write.{RowLevelOperation, RowLevelOperationTable}
import org.apache.spark.sql.{DataFrame, Dataset, SparkSession}

/** Calls Spark methods that are accessible only in Spark's packages. */
object Statements {

  /**
   * Runs the plan of a statement, such as a MERGE. Spark runs a statement as soon as its plan is analyzed, so no rows
   * are collected.
   */
  def run(session: SparkSession, statement: LogicalPlan): Unit = {
    Dataset.ofRows(session, statement)
    ()
  }

  /**
   * Runs a plan that is not a statement of Spark, and ignores its rows. Spark does not run such a plan before its rows
   * are collected. Spark's web UI shows the plan as a separate query.
   */
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
