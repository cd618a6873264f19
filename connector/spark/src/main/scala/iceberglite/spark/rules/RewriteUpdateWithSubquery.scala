package iceberglite.spark.rules

import org.apache.spark.sql.catalyst.analysis.EliminateSubqueryAliases
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.Literal.TrueLiteral
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.connector.write.RowLevelOperation.Command
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation
import org.apache.spark.sql.iceberglite.Statements
import org.apache.spark.sql.types.BooleanType

import iceberglite.spark.table.SparkTable

/**
 * Evaluates the condition of a copy-on-write UPDATE with a subquery once for each row. Spark itself runs two queries:
 * one for rows that change, and one for rows that do not change. These queries read the files to rewrite twice. If the
 * subquery has different results in the two queries, rows are lost or duplicated.
 *
 * With this rule, a Python function in the new values would run on all rows, regardless of the condition. Therefore, an
 * UPDATE with Python functions is left to Spark if the results of its subqueries cannot differ.
 */
object RewriteUpdateWithSubquery extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperators {
    case update @ UpdateTable(target, assignments, Some(condition))
        if update.resolved && update.aligned && condition.dataType == BooleanType && paysOff(assignments, condition) =>
      EliminateSubqueryAliases(target) match {
        case relation @ DataSourceV2Relation(table: SparkTable, _, _, _, _) if table.copiesOnWrite(Command.UPDATE) =>
          replaced(relation, table, assignments, condition)
        case _ => update
      }
  }

  private def paysOff(assignments: Seq[Assignment], condition: Expression): Boolean = {
    val subqueries = condition.collect { case subquery: SubqueryExpression => subquery }
    subqueries.nonEmpty &&
    !(assignments.exists(_.value.exists(_.isInstanceOf[PythonUDF])) && subqueries.forall(s => RepeatableQuery(s.plan)))
  }

  private def replaced(
      relation: DataSourceV2Relation,
      table: SparkTable,
      assignments: Seq[Assignment],
      condition: Expression
  ): LogicalPlan = {
    val operation = table.update()
    val writtenRelation = relation.copy(table = Statements.rowLevelTable(table, operation))
    val required = operation.requiredMetadataAttributes().toSeq
    val metadata = V2ExpressionUtils.resolveRefs[AttributeReference](required, relation)
      .filterNot(relation.outputSet.contains)
    val changes = Alias(EqualNullSafe(condition, TrueLiteral), "changes")()
    val relationToRead = writtenRelation.copy(output = writtenRelation.output ++ metadata)
    val values = relation.output.zip(assignments.map(_.value)).map { case (column, value) =>
      if (value.semanticEquals(column)) column else Alias(If(changes.toAttribute, value, column), column.name)()
    }
    val query = Project(values ++ metadata, Project(relationToRead.output :+ changes, relationToRead))
    ReplaceData(writtenRelation, condition, query, relation, Some(condition))
  }
}
