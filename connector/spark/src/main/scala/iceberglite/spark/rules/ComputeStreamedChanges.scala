package iceberglite.spark.rules

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.expressions.Alias
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, FlatMapGroupsWithState, Join, LogicalPlan, Project}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.datasources.v2.StreamingDataSourceV2Relation
import org.apache.spark.sql.iceberglite.Statements

import iceberglite.spark.read.{ChangeView, ScanStream}
import iceberglite.spark.stream.source.{MicroBatchResult, MicroBatchRows}

/**
 * Computes the updates or the net changes of each micro-batch of a stream of changes. A micro-batch contains whole
 * commits, so that its rows suffice, and the query needs no state.
 *
 * If the query itself has operators with state, they also return rows of earlier micro-batches, for example all groups
 * in complete mode. In this case, the streams report no row counts, because Spark would choose the joins above these
 * operators by the row count of one micro-batch.
 */
final class ComputeStreamedChanges(session: SparkSession) extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = {
    lazy val keepsState = plan.exists(returnsEarlierRows)
    plan.resolveOperators {
      case relation @ StreamingDataSourceV2Relation(_, _, stream: ScanStream, _, _, _, _) =>
        if (keepsState) stream.omitRowCounts()
        stream.changeView.fold[LogicalPlan](relation)(computed(relation, _))
    }
  }

  private def returnsEarlierRows(operator: LogicalPlan): Boolean = operator match {
    case _: Aggregate | _: FlatMapGroupsWithState => operator.isStreaming
    case join: Join => join.left.isStreaming && join.right.isStreaming
    case _ => false
  }

  private def computed(relation: StreamingDataSourceV2Relation, view: ChangeView): LogicalPlan = {
    val rows = MicroBatchRows(relation.copy(output = relation.output.map(_.newInstance())))
    val result = view.rows(Statements.dataset(session, rows)).queryExecution.analyzed
    val columns = result.output.zip(relation.output).map { case (value, column) =>
      Alias(value, column.name)(column.exprId, column.qualifier, Some(column.metadata))
    }
    MicroBatchResult(Project(columns, result))
  }
}
