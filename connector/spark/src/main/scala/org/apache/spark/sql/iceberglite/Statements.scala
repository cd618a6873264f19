package org.apache.spark.sql.iceberglite

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.connector.catalog.{SupportsRowLevelOperations, Table}
import org.apache.spark.sql.connector.write.{RowLevelOperation, RowLevelOperationTable}
import org.apache.spark.sql.{Dataset, SparkSession}

/** What Spark lets only its own packages do with statements. */
object Statements {

  /** Runs a statement that is there as a plan. */
  def run(session: SparkSession, statement: LogicalPlan): Unit = {
    Dataset.ofRows(session, statement)
    ()
  }

  /** A table as an operation on its rows reads and writes it. */
  def changed(table: Table with SupportsRowLevelOperations, operation: RowLevelOperation): Table =
    RowLevelOperationTable(table, operation)
}
