package iceberglite.spark.rules

import org.apache.spark.SparkException
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.datasources.v2.{V2CommandExec, V2ExistingTableWriteExec}
import org.apache.spark.sql.execution.{ColumnarRule, SparkPlan, UnaryExecNode}

import iceberglite.spark.error.{Boundaries, SparkErrors}

/**
 * Lets the error of a failed write have the condition of its cause. If a task fails, Spark ends a statement with an
 * error without a condition. The cause of this error is the error of the task.
 */
object ReportFailedWrites extends ColumnarRule {

  override val preColumnarTransitions: Rule[SparkPlan] = new Rule[SparkPlan] {
    override val ruleName: String = "ReportFailedWrites"

    override def apply(plan: SparkPlan): SparkPlan = plan match {
      case write: V2ExistingTableWriteExec if Boundaries.contain(write.write) => ReportedWriteExec(write)
      case _ => plan
    }
  }
}

/** Runs a write, and adds the condition of the cause to an error without a condition. */
final private[iceberglite] case class ReportedWriteExec(child: SparkPlan) extends V2CommandExec with UnaryExecNode {
  override def output: Seq[Attribute] = child.output

  override protected def run(): Seq[InternalRow] =
    try child.executeCollect().toSeq
    catch { case error: SparkException if error.getErrorClass == null => throw SparkErrors.ofJob(error) }

  override protected def withNewChildInternal(newChild: SparkPlan): ReportedWriteExec = copy(child = newChild)
}
