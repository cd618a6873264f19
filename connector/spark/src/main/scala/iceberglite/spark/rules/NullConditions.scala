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
 * Casts the literal NULL to BOOLEAN in conditions of DELETE, UPDATE, MERGE and overwrites. Spark applies type coercion
 * to a Filter, but not to the conditions of these commands. Later, Spark rewrites the conditions into comparisons with
 * TRUE, and a comparison of an untyped NULL with TRUE fails.
 */
private[rules] object NullConditions {

  /**
   * Returns the command with its conditions cast by the other overload of this method; other plans are returned
   * unchanged.
   */
  def castNulls(command: LogicalPlan): LogicalPlan = command match {
    case d: DeleteFromTable => d.copy(condition = castNulls(d.condition))
    case u: UpdateTable => u.copy(condition = u.condition.map(c => castNulls(c)))
    case m: MergeIntoTable => m.copy(
        mergeCondition = castNulls(m.mergeCondition),
        matchedActions = m.matchedActions.map(a => castNulls(a)),
        notMatchedActions = m.notMatchedActions.map(a => castNulls(a)),
        notMatchedBySourceActions = m.notMatchedBySourceActions.map(a => castNulls(a))
      )
    case other => other
  }

  private def castNulls(action: MergeAction): MergeAction = action match {
    case d: DeleteAction => d.copy(condition = d.condition.map(c => castNulls(c)))
    case u: UpdateAction => u.copy(condition = u.condition.map(c => castNulls(c)))
    case u: UpdateStarAction => u.copy(condition = u.condition.map(c => castNulls(c)))
    case i: InsertAction => i.copy(condition = i.condition.map(c => castNulls(c)))
    case i: InsertStarAction => i.copy(condition = i.condition.map(c => castNulls(c)))
  }

  /** Returns the condition, cast to BOOLEAN if it has the type of the literal NULL. */
  def castNulls(condition: Expression): Expression =
    if (condition.dataType == NullType) Cast(condition, BooleanType) else condition
}
