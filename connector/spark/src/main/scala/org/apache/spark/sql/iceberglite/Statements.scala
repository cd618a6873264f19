package org.apache.spark.sql.iceberglite

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.connector.catalog.{SupportsRowLevelOperations, Table}
import org.apache.spark.sql.connector.write.{RowLevelOperation, RowLevelOperationTable}
import org.apache.spark.sql.{Dataset, SparkSession}

/** Operations on statements that are accessible only in packages of Spark. */
object Statements {

  /** Runs a logical plan as a statement. */
  def run(session: SparkSession, statement: LogicalPlan): Unit = {
    Dataset.ofRows(session, statement)
    ()
  }

  /** Returns the table of a row-level operation. */
  def changed(table: Table with SupportsRowLevelOperations, operation: RowLevelOperation): Table =
    RowLevelOperationTable(table, operation)
}
