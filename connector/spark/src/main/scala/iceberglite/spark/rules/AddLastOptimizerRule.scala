package iceberglite.spark.rules

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule

/**
 * Registers an optimizer rule that runs after all of Spark's own optimizer rules, when the plan contains scans. Spark
 * 3.5 has no extension point for such a rule, and the session does not exist yet when Spark requests the rules of its
 * extensions. Therefore, this class is an analyzer rule: the first query that is analyzed in a session registers the
 * optimizer rule in the session, and the query's plan is returned unchanged.
 *
 * @param rule the optimizer rule; all sessions share one instance, so that a session registers it only once
 */
final private[iceberglite] class AddLastOptimizerRule(session: SparkSession, rule: Rule[LogicalPlan])
    extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = {
    val experimental = session.experimental
    experimental.synchronized {
      val registered = experimental.extraOptimizations
      if (!registered.contains(rule)) experimental.extraOptimizations = registered :+ rule
    }
    plan
  }
}
