package iceberglite.spark.rules

import org.apache.spark.sql.catalyst.expressions.{Cast, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{
  DeleteAction,
  DeleteFromTable,
  InsertAction,
  InsertStarAction,
  LogicalPlan,
  MergeAction,
  MergeIntoTable,
  UpdateAction,
  UpdateStarAction,
  UpdateTable
}
import org.apache.spark.sql.types.{BooleanType, NullType}

/**
 * Casts the literal NULL to BOOLEAN in conditions of DELETE, UPDATE, MERGE and overwrites. Spark coerces types in a
 * Filter, but not in these commands. It rewrites them into comparisons with TRUE after the last coercion, and those
 * comparisons fail.
 */
private[rules] object NullConditions {

  def typed[P <: LogicalPlan](command: P): P = (command match {
    case d: DeleteFromTable => d.copy(condition = typed(d.condition))
    case u: UpdateTable => u.copy(condition = u.condition.map(c => typed(c)))
    case m: MergeIntoTable => m.copy(
        mergeCondition = typed(m.mergeCondition),
        matchedActions = m.matchedActions.map(a => typed(a)),
        notMatchedActions = m.notMatchedActions.map(a => typed(a)),
        notMatchedBySourceActions = m.notMatchedBySourceActions.map(a => typed(a))
      )
    case other => other
  }).asInstanceOf[P]

  private def typed(action: MergeAction): MergeAction = action match {
    case d: DeleteAction => d.copy(condition = d.condition.map(c => typed(c)))
    case u: UpdateAction => u.copy(condition = u.condition.map(c => typed(c)))
    case u: UpdateStarAction => u.copy(condition = u.condition.map(c => typed(c)))
    case i: InsertAction => i.copy(condition = i.condition.map(c => typed(c)))
    case i: InsertStarAction => i.copy(condition = i.condition.map(c => typed(c)))
  }

  /** Returns the condition, as a BOOLEAN if it is the literal NULL. */
  def typed(condition: Expression): Expression =
    if (condition.dataType == NullType) Cast(condition, BooleanType) else condition
}
