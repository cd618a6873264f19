package iceberglite.spark.sql

import org.apache.spark.sql.catalyst.expressions.{ExprId, Expression, NamedExpression, SubqueryExpression, Unevaluable}
import org.apache.spark.sql.catalyst.plans.logical.{HintInfo, LeafCommand, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.types.{DataType, NullType}

/**
 * A statement that Spark must not resolve yet, because it may have to be resolved several times. As a subquery, it
 * still receives the values of the parameters of `spark.sql(text, args)` and the named queries of WITH.
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

/** A statement that may be retried. It is a placeholder until the parameters of the statement are known. */
final private[iceberglite] case class DeferredStatement(table: Seq[String], deferred: DeferredPlan, retries: Int)
    extends LeafCommand {
  override lazy val resolved: Boolean = false
}

/** Replaces a statement by a command when its parameters are known. */
object DeferredStatement extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperators {
    case DeferredStatement(table, deferred, retries) => RetriedStatement(table, deferred.plan, retries)
  }
}
