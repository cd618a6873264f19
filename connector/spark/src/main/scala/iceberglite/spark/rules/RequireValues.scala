package iceberglite.spark.rules

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.objects.AssertNotNull
import org.apache.spark.sql.catalyst.plans.logical.{
  Assignment,
  LogicalPlan,
  MergeIntoTable,
  Project,
  UpdateTable,
  V2WriteCommand
}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation

import iceberglite.spark.constraint.{NullFault, RequiredValue}
import iceberglite.spark.rules.PrepareRowLevelOperations.Target
import iceberglite.spark.table.SparkTable

/**
 * Replaces Spark's checks for nulls in the rows of a write with checks that raise errors with an error condition (error
 * class). Checks that the query itself contains, such as those of a typed Dataset, are kept.
 */
object RequireValues extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperators {
    case write: V2WriteCommand if write.resolved =>
      write.table match {
        case relation @ DataSourceV2Relation(table: SparkTable, _, _, _, _) =>
          write.withNewQuery(new NullChecks(table, relation).inRows(write.query))
        case _ => write
      }
    case update @ UpdateTable(Target(table, relation), _, _) if update.resolved =>
      new NullChecks(table, relation).inAssignments(update)
    case merge @ MergeIntoTable(Target(table, relation), _, _, _, _, _) if merge.resolved =>
      new NullChecks(table, relation).inAssignments(merge)
  }
}

/** Replaces Spark's checks for nulls in the columns of a table. */
final private class NullChecks(table: SparkTable, relation: DataSourceV2Relation) {
  private val columns = relation.output.map(_.name).toSet

  /**
   * Replaces the checks in the rows of a write. Spark adds the checks to a projection of the query, and
   * [[ComputeGeneratedColumns]] may add another projection.
   */
  def inRows(rows: LogicalPlan): LogicalPlan = rows match {
    case project: Project => project.copy(child = inRows(project.child)).transformExpressions(replacement)
    case other => other
  }

  def inAssignments(command: LogicalPlan): LogicalPlan = command.transformExpressions {
    case assignment: Assignment => assignment.copy(value = assignment.value.transform(replacement))
  }

  private def replacement: PartialFunction[Expression, Expression] = {
    case AssertNotNull(value, path) if path.headOption.exists(columns) =>
      RequiredValue(value, NullFault(table.name, path.mkString(".")))
  }
}
