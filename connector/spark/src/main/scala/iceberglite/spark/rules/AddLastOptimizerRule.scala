package iceberglite.spark.rules

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule

/**
 * Adds a rule after all others of a session's optimizer, when the plan contains scans. Spark 3.5 has no such extension
 * point, and the session does not exist yet when Spark requests the rules of its extensions. Therefore, the first query
 * that is analyzed in a session adds the rule.
 *
 * @param rule one rule for all sessions
 */
final private[iceberglite] class AddLastOptimizerRule(session: SparkSession, rule: Rule[LogicalPlan])
    extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = {
    val methods = session.experimental
    methods.synchronized {
      if (!methods.extraOptimizations.contains(rule)) methods.extraOptimizations = methods.extraOptimizations :+ rule
    }
    plan
  }
}
