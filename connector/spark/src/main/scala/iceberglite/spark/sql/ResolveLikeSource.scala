package iceberglite.spark.sql

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.analysis.UnresolvedTableOrView
import org.apache.spark.sql.catalyst.plans.logical.{LocalRelation, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.types.DataTypeUtils

import iceberglite.spark.view.ViewName

/** Resolves the source of CREATE TABLE LIKE if it is a view of an iceberg-lite catalog. Spark resolves all others. */
final class ResolveLikeSource(session: SparkSession) extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperators {
    case create @ CreateTableLike(_, _, UnresolvedTableOrView(name, _, _), _, _) =>
      ViewName.ofPermanent(session, name).flatMap(_.columns).fold(create) { columns =>
        create.copy(child = LocalRelation(DataTypeUtils.toAttributes(columns)))
      }
  }
}
