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
 * Marks the scans below aggregates and limits with the option [[FiltersByMetrics]], so that Spark can push the
 * aggregate or limit down to the connector. Spark pushes aggregates and limits down only if no filter remains in the
 * plan. In a marked scan, the connector removes a filter if the column metrics show that it is true for all rows of all
 * files. In other scans, such a filter remains in the plan, because Spark adds a dynamic pruning filter to one side of
 * a join only if the other side has a filter.
 */
object AllowFilteringByMetrics extends Rule[LogicalPlan] {
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
