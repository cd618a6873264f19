package iceberglite.spark.rules

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation
import org.apache.spark.sql.execution.streaming.sources.WriteToMicroBatchDataSource
import org.apache.spark.sql.streaming.OutputMode
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import iceberglite.spark.catalog.FunctionOperations
import iceberglite.spark.conf.{StatementOptions, UpsertOptions}
import iceberglite.spark.table.SparkTable
import iceberglite.spec.IcebergError.Unsupported

/**
 * Prepares the write of a micro-batch:
 *
 *   - A query in update mode without key columns is rejected. Spark's own error does not name the option.
 *   - If the sink was started with a path (`start`), the plan has no relation, and Spark finds no functions for the
 *     partition transforms by which it distributes the rows. The rule adds a relation whose catalog has these functions.
 */
object PrepareMicroBatchWrite extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan match {
    case write @ WriteToMicroBatchDataSource(relation, table: SparkTable, _, _, options, mode, _) =>
      table.in {
        if (mode == OutputMode.Update() && !StatementOptions(options).isUpsert) throw updateWithoutKeys(table)
      }
      if (relation.isDefined) write else write.copy(relation = Some(relationOf(table)))
    case _ => plan
  }

  private def updateWithoutKeys(table: SparkTable): Unsupported = Unsupported(
    s"a streaming query in update mode into ${table.name} without key columns",
    s"""Name the columns that identify rows with option("${UpsertOptions.Keys.key}", "..."), or use outputMode append"""
  )

  private def relationOf(table: SparkTable): DataSourceV2Relation =
    DataSourceV2Relation.create(table, Some(TransformFunctions), None)

  /** A catalog that only has the functions of partition transforms. */
  private object TransformFunctions extends FunctionOperations {
    override def initialize(name: String, options: CaseInsensitiveStringMap): Unit = ()
    override def name: String = "iceberg_lite_transforms"
    override def namespaceExists(namespace: Array[String]): Boolean = false
  }
}
