package iceberglite.spark.rules

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule

/**
 * Puts a rule behind all others of a session's optimizer, where the scans stand in the plan. Extensions of Spark 3.5 have
 * no such place, and the session is not there yet when they are asked for rules: the first query of a session that is
 * analyzed does it.
 *
 * @param rule one for all sessions
 */
final private[spark] class LastInOptimizer(session: SparkSession, rule: Rule[LogicalPlan]) extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = {
    val methods = session.experimental
    methods.synchronized {
      if (!methods.extraOptimizations.contains(rule)) methods.extraOptimizations = methods.extraOptimizations :+ rule
    }
    plan
  }
}
