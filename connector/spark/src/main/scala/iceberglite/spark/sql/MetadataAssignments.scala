package iceberglite.spark.sql

import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.catalyst.expressions.MetadataAttribute
import org.apache.spark.sql.catalyst.plans.logical.{
  Assignment,
  InsertAction,
  LogicalPlan,
  MergeAction,
  MergeIntoTable,
  UnaryCommand,
  UpdateAction,
  UpdateTable
}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.{Origin, TreePattern}
import org.apache.spark.sql.execution.command.ExplainCommand
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation

import iceberglite.spark.error.{ErrorCondition, StatementError}
import iceberglite.spark.table.SparkTable
import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.schema.MetadataColumns

/** The name of a column to which a statement assigns a value, as written. */
final private[sql] case class AssignedName(parts: Seq[String], origin: Origin)

/**
 * An UPDATE or MERGE that assigns values to columns with the names of metadata columns. The rule in the companion
 * object rejects the statement as soon as its table is resolved, or replaces this plan by the statement if the table
 * has columns with these names. Spark itself drops assignments to metadata columns without an error.
 */
final private[iceberglite] case class MetadataAssignments(child: LogicalPlan, assigned: Seq[AssignedName])
    extends UnaryCommand {
  override lazy val resolved: Boolean = false
  override protected def withNewChildInternal(newChild: LogicalPlan): MetadataAssignments = copy(child = newChild)
}

object MetadataAssignments extends Rule[LogicalPlan] {

  /** Adds the check to each UPDATE or MERGE in a parsed plan that may assign values to metadata columns. */
  def checked(plan: LogicalPlan): LogicalPlan = plan match {
    case explain: ExplainCommand => explain.copy(logicalPlan = checked(explain.logicalPlan))
    case _ => plan.transformUpWithPruning(_.containsPattern(TreePattern.COMMAND)) {
        case u: UpdateTable => checked(u, u.assignments)
        case m: MergeIntoTable =>
          checkedActions(m, m.matchedActions ++ m.notMatchedActions ++ m.notMatchedBySourceActions)
        case m: EvolvingMerge => checkedActions(m, m.matched ++ m.notMatched ++ m.notMatchedBySource)
      }
  }

  private def checkedActions(merge: LogicalPlan, actions: Seq[MergeAction]): LogicalPlan = checked(
    merge,
    actions.flatMap {
      case UpdateAction(_, assignments) => assignments
      case InsertAction(_, assignments) => assignments
      case _ => Nil
    }
  )

  private def checked(statement: LogicalPlan, assignments: Seq[Assignment]): LogicalPlan = {
    val assigned = assignments.collect {
      case Assignment(key @ UnresolvedAttribute(parts), _) if isMetadataName(parts.last) =>
        AssignedName(parts, key.origin)
    }
    if (assigned.isEmpty) statement else MetadataAssignments(statement, assigned)
  }

  private def isMetadataName(name: String): Boolean = MetadataColumns.namesOfRows.exists(_.equalsIgnoreCase(name))

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
    case MetadataAssignments(statement, assigned) if statement.children.forall(_.resolved) =>
      statement.children.head.collectFirst { case r @ DataSourceV2Relation(table: SparkTable, _, _, _, _) =>
        r -> table
      }
        .foreach { case (relation, table) => check(relation, table, assigned) }
      statement
  }

  private def check(relation: DataSourceV2Relation, table: SparkTable, assigned: Seq[AssignedName]): Unit = {
    val columns = relation.output.filterNot(a => MetadataAttribute.isValid(a.metadata)).map(_.name)
    def isColumn(name: String): Boolean = columns.exists(conf.resolver(_, name))
    // The first part of the name of a struct field is a column.
    assigned.find(name => !isColumn(name.parts.last) && !name.parts.init.exists(isColumn)).foreach { name =>
      val error = InvalidArgument("column to set", name.parts.mkString("."), CannotSet)
      throw new StatementError(s"${table.name}: ${error.getMessage}", error, ErrorCondition.of(error), name.origin)
    }
  }

  private val CannotSet = "It is a metadata column, which cannot be set; remove the assignment"
}
