package iceberglite.spark.rules

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.streaming.StreamingRelationV2
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.catalyst.util.CharVarcharUtils

import iceberglite.spark.changelog.ChangelogTable
import iceberglite.spark.table.SparkTable

/**
 * Replaces the types `CHAR` and `VARCHAR` of the columns of a streaming read by `STRING`. Spark does this for batch
 * reads, but cannot run a streaming read with these types.
 */
object ResolveStreamedTypes extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperators {
    case relation @ StreamingRelationV2(_, _, _: SparkTable | _: ChangelogTable, _, output, _, _, _)
        if output.exists(column => CharVarcharUtils.hasCharVarchar(column.dataType)) =>
      val strings = CharVarcharUtils.replaceCharVarcharWithStringInSchema(DataTypeUtils.fromAttributes(output))
      relation.copy(output = output.zip(strings).map { case (column, string) =>
        column.withDataType(string.dataType).withMetadata(string.metadata)
      })
  }
}
