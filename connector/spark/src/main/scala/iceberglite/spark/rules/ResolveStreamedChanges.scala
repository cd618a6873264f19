package iceberglite.spark.rules

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.streaming.StreamingRelationV2
import org.apache.spark.sql.catalyst.types.DataTypeUtils

import iceberglite.spark.conf.StreamOptions
import iceberglite.spark.error.SparkErrors
import iceberglite.spark.table.SparkTable

/**
 * Replaces the table of a streaming read with the option `streaming-changes` by the changelog of the table. The columns
 * of the changelog follow those of the table.
 */
object ResolveStreamedChanges extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperators {
    case relation: StreamingRelationV2 => relation.table match {
        case table: SparkTable if SparkErrors.in(table.name)(StreamOptions.readsChanges(relation.extraOptions)) =>
          val changes = table.changes
          val columns = DataTypeUtils.toAttributes(changes.schema)
          relation.copy(table = changes, output = relation.output ++ columns.drop(relation.output.size))
        case _ => relation
      }
  }
}
