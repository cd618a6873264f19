package iceberglite.spark.rules

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.streaming.StreamingRelationV2
import org.apache.spark.sql.catalyst.types.DataTypeUtils

import iceberglite.spark.conf.StreamOptions
import iceberglite.spark.error.SparkErrors
import iceberglite.spark.table.SparkTable

/**
 * Applies the option `streaming-schema-id` of a streaming read: replaces the columns of the table by the columns of the
 * schema with this id. Only methods of `DataStreamReader` can set the option. Therefore, when this rule runs, no other
 * operator refers to the columns yet.
 */
object ResolveStreamedColumns extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperators {
    case relation: StreamingRelationV2 => relation.table match {
        case table: SparkTable =>
          SparkErrors.in(table.name)(StreamOptions.schemaId(relation.extraOptions))
            .filterNot(table.hasColumnsOf).fold(relation) { id =>
              val fixed = table.withColumns(id)
              relation.copy(table = fixed, output = DataTypeUtils.toAttributes(fixed.schema))
            }
        case _ => relation
      }
  }
}
