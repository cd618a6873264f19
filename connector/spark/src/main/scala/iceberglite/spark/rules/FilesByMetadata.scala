package iceberglite.spark.rules

import org.apache.spark.sql.catalyst.expressions.{Exists, Expression, Literal}
import org.apache.spark.sql.catalyst.plans.LeftOuter
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan, ReplaceData}
import org.apache.spark.sql.catalyst.rules.Rule

import iceberglite.spark.write.rows.CopyOnWrite

/**
 * The files that a MERGE by copy-on-write writes anew, where its condition names metadata columns. Spark looks for them by
 * the table's columns alone, which is why [[RowLevelPlans]] keeps it from doing so.
 */
object FilesByMetadata extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan match {
    case write @ ReplaceData(_, Literal.TrueLiteral, query, _, None, _) => write.operation match {
        case copy: CopyOnWrite if copy.statement.facts.seeksByMetadata =>
          query.collectFirst {
            case Join(target, source, LeftOuter, Some(condition), _) if SameTwice(source) =>
              write.copy(condition = condition, groupFilterCondition = Some(hasMatch(target, source, condition)))
          }.getOrElse(plan)
        case _ => plan
      }
    case _ => plan
  }

  /** As the optimizer has it by now: with the condition beside the subquery. */
  private def hasMatch(target: LogicalPlan, source: LogicalPlan, condition: Expression): Expression =
    Exists(source, condition.references.intersect(target.outputSet).toSeq, joinCond = Seq(condition))
}
