package iceberglite.spark.read.aggregate

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  And,
  AttributeReference,
  Expression,
  InterpretedMutableProjection,
  PlanExpression,
  Predicate,
  Unevaluable,
  UserDefinedExpression
}
import org.apache.spark.sql.catalyst.planning.PhysicalOperation
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2ScanRelation
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}

/**
 * Evaluates projections and filters over the rows of an [[AggregateScan]] on the driver. Without this strategy, Spark
 * would run a job to rename columns, add one to a count or apply HAVING.
 */
object AggregateScanStrategy extends SparkStrategy {

  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case PhysicalOperation(columns, filters, DataSourceV2ScanRelation(_, scan: AggregateScan, output, _, _))
        if (columns ++ filters).forall(isEvaluable) =>
      val matches = filters.reduceOption(And).fold((_: InternalRow) => true) { condition =>
        val test = Predicate.create(condition, output)
        test.initialize(0)
        test.eval
      }
      val project = new InterpretedMutableProjection(columns, output)
      val rows = scan.rows().filter(matches).map(project(_).copy())
      Seq(AggregateScanExec(columns.map(_.toAttribute), rows.toVector, scan.description))
    case _ => Nil
  }

  /**
   * Whether an expression can be evaluated during planning. A subquery has no value yet during planning, and
   * user-defined code should run in a job.
   */
  private def isEvaluable(e: Expression): Boolean = e.deterministic && !e.exists {
    case _: AttributeReference => false
    case _: PlanExpression[_] | _: Unevaluable | _: UserDefinedExpression => true
    case _ => false
  }
}
