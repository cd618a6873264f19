package iceberglite.spark.rules

import org.apache.spark.sql.catalyst.expressions.{Alias, If, Literal, SubqueryExpression}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project, ReplaceData}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.connector.write.RowLevelOperation.Command

import iceberglite.spark.rowlevel.{CarryOverColumns, CopyOnWriteOperation}
import iceberglite.spark.write.RowChangeCode

/**
 * Makes a copy-on-write DELETE also pass deleted rows to the write, with the code for a delete in the change column.
 * The write counts these rows, and does not store them. This is necessary only if metadata does not determine the
 * number of deleted rows.
 */
object MarkDeletedRows extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan match {
    case write @ ReplaceData(_, _, Filter(isKept, rows), _, _, _) if !SubqueryExpression.hasSubquery(isKept) =>
      write.operation match {
        case copy: CopyOnWriteOperation if copy.command == Command.DELETE && copy.statement.analysis.marksDeletes =>
          val marked = rows.output.map {
            case a if a.name == CarryOverColumns.Change.name && CarriedColumns.isCarried(a) =>
              Alias(If(isKept, a, Literal(RowChangeCode.Deleted)), a.name)()
            case a => a
          }
          write.copy(query = Project(marked, rows))
        case _ => plan
      }
    case _ => plan
  }
}
