package iceberglite.spark.rules

import scala.collection.JavaConverters._

import org.apache.spark.sql.catalyst.plans.logical.{
  Aggregate,
  Filter,
  GlobalLimit,
  LocalLimit,
  LogicalPlan,
  Offset,
  Project,
  Sort
}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import iceberglite.spark.conf.ReadOptions.FiltersByMetrics
import iceberglite.spark.table.SparkTable

/**
 * Marks the scans below aggregates and limits that the connector may answer from file metadata. Spark pushes aggregates
 * and limits down only if no filter remains in the plan. If the bounds of all files decide a filter, the connector
 * removes the filter for marked scans. For other scans, the filter remains in the plan, because Spark prunes one side
 * of a join only if the other side has a filter.
 */
object MarkWholeFileScans extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = plan.transformDown {
    case aggregate: Aggregate => aggregate.mapChildren(marked)
    case limit: GlobalLimit => limit.mapChildren(marked)
  }

  private def marked(plan: LogicalPlan): LogicalPlan = plan match {
    case relation: DataSourceV2Relation if relation.table.isInstanceOf[SparkTable] =>
      val options = relation.options.asCaseSensitiveMap.asScala.toMap + (FiltersByMetrics -> "true")
      relation.copy(options = new CaseInsensitiveStringMap(options.asJava))
    case _: Filter | _: Project | _: Sort | _: LocalLimit | _: Offset => plan.mapChildren(marked)
    case other => other
  }
}
