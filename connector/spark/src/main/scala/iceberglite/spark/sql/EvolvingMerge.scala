package iceberglite.spark.sql

import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{
  Assignment,
  BinaryCommand,
  InsertAction,
  InsertStarAction,
  LogicalPlan,
  MergeAction,
  MergeIntoTable,
  UpdateAction,
  UpdateStarAction
}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation
import org.apache.spark.sql.types.{StructField, StructType}

import iceberglite.spark.error.SparkErrors
import iceberglite.spark.table.SparkTable
import iceberglite.spec.schema.Schema

/**
 * A MERGE that adds columns to its target table. Spark resolves only the target and the source, until the rule in the
 * companion object has added the columns to the table in the plan.
 */
final private[iceberglite] case class EvolvingMerge(
    target: LogicalPlan,
    source: LogicalPlan,
    condition: Expression,
    matched: Seq[MergeAction],
    notMatched: Seq[MergeAction],
    notMatchedBySource: Seq[MergeAction]
) extends BinaryCommand {
  override def left: LogicalPlan = target
  override def right: LogicalPlan = source
  override lazy val resolved: Boolean = false

  /** Returns false, so that Spark does not resolve names before the table in the plan has the new columns. */
  override def childrenResolved: Boolean = false

  override protected def withNewChildrenInternal(newLeft: LogicalPlan, newRight: LogicalPlan): EvolvingMerge =
    copy(target = newLeft, source = newRight)
}

/**
 * Adds columns to the target table of a MERGE, and widens the types of existing columns. Source columns that the table
 * lacks are added if `UPDATE SET *`, `INSERT *` or an assignment to a column of the same name uses them. The table in
 * the plan has the new columns immediately; the commit of the rows adds these columns to the table in the catalog.
 * Table columns that the source lacks keep their values in existing rows. In new rows, these columns have their default
 * values, or null.
 */
object EvolvingMerge extends Rule[LogicalPlan] {

  def of(m: MergeIntoTable): EvolvingMerge = EvolvingMerge(
    m.targetTable,
    m.sourceTable,
    m.mergeCondition,
    m.matchedActions,
    m.notMatchedActions,
    m.notMatchedBySourceActions
  )

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
    case m: EvolvingMerge if m.target.resolved && m.source.resolved =>
      m.target.collectFirst { case r @ DataSourceV2Relation(t: SparkTable, _, _, _, _) => (r, t) } match {
        case Some((relation, table)) => SparkErrors.in(table.name)(evolved(m, relation, table))
        case None => MergeIntoTable(m.target, m.source, m.condition, m.matched, m.notMatched, m.notMatchedBySource)
      }
  }

  private def evolved(m: EvolvingMerge, relation: DataSourceV2Relation, table: SparkTable): LogicalPlan = {
    val sourceColumns = new SourceColumns(table.table, conf.caseSensitiveAnalysis).of(columnsToMerge(m))
    val changed = table.changedWith(Schema(0, sourceColumns))
    val evolvedRelation = DataSourceV2Relation.create(changed, relation.catalog, relation.identifier, relation.options)
    val starAssignments = new StarAssignments(evolvedRelation.output, m.source.output, conf.resolver)
    MergeIntoTable(
      m.target.transform { case r: DataSourceV2Relation if r eq relation => evolvedRelation },
      m.source,
      m.condition,
      m.matched.map(withoutStar(_, starAssignments)),
      m.notMatched.map(withoutStar(_, starAssignments)),
      m.notMatchedBySource
    )
  }

  private def withoutStar(action: MergeAction, starAssignments: StarAssignments): MergeAction = action match {
    case UpdateStarAction(condition) => UpdateAction(condition, starAssignments.ofUpdate)
    case InsertStarAction(condition) => InsertAction(condition, starAssignments.ofInsert)
    case other => other
  }

  /**
   * Returns the source columns, including fields of structs, that the MERGE actions assign. If the table lacks such a
   * column, it is added; otherwise the table's column is widened to the type of the source column.
   */
  private def columnsToMerge(m: EvolvingMerge): StructType = {
    val source = StructType(m.source.output.map(a => StructField(a.name, a.dataType)))
    val actions = m.matched ++ m.notMatched
    if (actions.exists(a => a.isInstanceOf[UpdateStarAction] || a.isInstanceOf[InsertStarAction])) source
    else {
      val assigned = actions.flatMap {
        case UpdateAction(_, assignments) => assignments
        case InsertAction(_, assignments) => assignments
        case _ => Nil
      }
      FieldPaths.select(source, assigned.flatMap(path(_, m.target.output)), conf.resolver)
    }
  }

  /**
   * Returns the path of the column to which an assignment assigns a value, without the table's name or alias; absent if
   * the assignment cannot add a column or widen its type.
   */
  private def path(assigned: Assignment, target: Seq[Attribute]): Option[Seq[String]] = assigned.key match {
    case UnresolvedAttribute(parts) =>
      val qualifier = target.headOption.fold(Seq.empty[String])(_.qualifier)
      val isColumn = target.exists(a => conf.resolver(a.name, parts.head))
      def isPrefix(n: Int): Boolean =
        parts.size > n && parts.take(n).zip(qualifier.takeRight(n)).forall { case (a, b) => conf.resolver(a, b) }
      val prefix = if (isColumn) None else (qualifier.size to 1 by -1).find(isPrefix)
      Some(parts.drop(prefix.getOrElse(0))).filter(p => determinesType(assigned.value, p.last))
    case _ => None
  }

  /**
   * Whether an assignment may add a column or widen its type. This is the case only if the value is a column of the
   * same name.
   */
  private def determinesType(value: Expression, name: String): Boolean = value match {
    case UnresolvedAttribute(parts) => conf.resolver(parts.last, name)
    case _ => false
  }
}
