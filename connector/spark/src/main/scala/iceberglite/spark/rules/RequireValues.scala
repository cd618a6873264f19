package iceberglite.spark.rules

import org.apache.spark.sql.catalyst.expressions.objects.AssertNotNull
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, MergeIntoTable, UpdateTable, V2WriteCommand}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation

import iceberglite.spark.constraint.{NullFault, RequiredValue}
import iceberglite.spark.rules.PrepareRowLevelOperations.Target
import iceberglite.spark.table.SparkTable

/** Replaces Spark's checks for nulls in the rows of a write by checks whose errors have a condition. */
object RequireValues extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperators {
    case write: V2WriteCommand if write.resolved =>
      write.table match {
        case DataSourceV2Relation(table: SparkTable, _, _, _, _) =>
          write.withNewQuery(replaced(write.query, table.name))
        case _ => write
      }
    case update @ UpdateTable(Target(table, _), _, _) if update.resolved => replaced(update, table.name)
    case merge @ MergeIntoTable(Target(table, _), _, _, _, _, _) if merge.resolved => replaced(merge, table.name)
  }

  private def replaced(plan: LogicalPlan, table: String): LogicalPlan = plan.transformExpressions {
    case AssertNotNull(value, path) => RequiredValue(value, NullFault(table, path.mkString(".")))
  }
}
