package iceberglite.spark.sql

import org.apache.spark.sql.catalyst.expressions.{ExprId, Expression, NamedExpression, SubqueryExpression, Unevaluable}
import org.apache.spark.sql.catalyst.plans.logical.{HintInfo, LeafCommand, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.types.{DataType, NullType}

/**
 * The unresolved plan of a statement that may be retried. Spark must not resolve this plan, because each retry resolves
 * it again. The plan is wrapped in a subquery expression, so that Spark still replaces the parameters of
 * `spark.sql(text, args)` and the named queries of WITH in the plan.
 */
final private[sql] case class DeferredPlan(plan: LogicalPlan, exprId: ExprId = NamedExpression.newExprId)
    extends SubqueryExpression(plan, Nil, exprId, Nil, None)
    with Unevaluable {
  override lazy val resolved: Boolean = false
  override def dataType: DataType = NullType
  override def nullable: Boolean = true
  override def hint: Option[HintInfo] = None
  override def withNewHint(hint: Option[HintInfo]): DeferredPlan = this
  override def withNewPlan(deferred: LogicalPlan): DeferredPlan = copy(plan = deferred)
  override protected def withNewChildrenInternal(newChildren: IndexedSeq[Expression]): DeferredPlan = this
}

/**
 * A placeholder for a statement that may be retried. It stays in the plan until Spark has replaced the parameters of
 * the statement.
 */
final private[iceberglite] case class DeferredStatement(table: Seq[String], deferred: DeferredPlan, retries: Int)
    extends LeafCommand {
  override lazy val resolved: Boolean = false
}

/** Turns a deferred statement into a command, when Spark has replaced the parameters of the statement. */
object DeferredStatement extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperators {
    case DeferredStatement(table, deferred, retries) => RetriedStatement(table, deferred.plan, retries)
  }
}
