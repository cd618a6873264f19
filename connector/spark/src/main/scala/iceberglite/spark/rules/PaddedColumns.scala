package iceberglite.spark.rules

import org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke
import org.apache.spark.sql.catalyst.expressions.{
  Alias,
  And,
  Attribute,
  AttributeReference,
  AttributeMap,
  BinaryComparison,
  EqualNullSafe,
  EqualTo,
  Expression,
  GreaterThan,
  GreaterThanOrEqual,
  LessThan,
  LessThanOrEqual,
  Literal,
  NamedExpression,
  OuterReference,
  SubqueryExpression
}
import org.apache.spark.sql.catalyst.plans.logical.{
  Assignment,
  DeleteAction,
  DeleteFromTable,
  Filter,
  InsertAction,
  LogicalPlan,
  MergeIntoTable,
  Project
}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.util.CharVarcharUtils
import org.apache.spark.sql.execution.datasources.ApplyCharTypePadding
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation
import org.apache.spark.sql.types.StringType
import org.apache.spark.unsafe.types.UTF8String

import iceberglite.spark.SparkTable

/**
 * What Spark 3.5 does not get right of statements that change a table with columns of CHAR or VARCHAR. These are read
 * padded, by a projection over the table, behind which a DELETE, and a MERGE that only deletes, does not find the table;
 * here the padding goes into the conditions instead. And what a MERGE inserts keeps the note of the declared type, which
 * the table has lost by then, so that the one does not fit the other; here it goes from both, for the lengths are checked
 * by expressions.
 */
object PaddedTargets extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperators {
    case delete: DeleteFromTable if delete.resolved => withoutNotes(withPaddedConditions(delete, delete.table))
    case merge: MergeIntoTable if merge.resolved && merge.aligned && ofOurs(merge.targetTable) =>
      if (onlyDeletes(merge)) withoutNotes(withPaddedConditions(merge, merge.targetTable))
      else merge.copy(notMatchedActions = merge.notMatchedActions.map {
        case insert: InsertAction => insert.copy(assignments = insert.assignments.map(withoutNote))
        case other => other
      })
  }

  private def onlyDeletes(merge: MergeIntoTable): Boolean =
    (merge.matchedActions ++ merge.notMatchedActions ++ merge.notMatchedBySourceActions)
      .forall(_.isInstanceOf[DeleteAction])

  private def isOurs(relation: DataSourceV2Relation): Boolean = relation.table.isInstanceOf[SparkTable]

  private def ofOurs(target: LogicalPlan): Boolean =
    target.collectFirst { case relation: DataSourceV2Relation => isOurs(relation) }.contains(true)

  /** @param target of the command */
  private def withPaddedConditions(command: LogicalPlan, target: LogicalPlan): LogicalPlan = {
    val padded = target.collectFirst {
      case project @ Project(_, relation: DataSourceV2Relation) if isOurs(relation) =>
        val columns = columnsOf(project)
        command.transformDown { case p if p eq project => relation }.mapExpressions(inside(_, columns))
    }
    padded.getOrElse(command)
  }

  private def columnsOf(project: Project): AttributeMap[Expression] =
    AttributeMap(project.projectList.collect { case a @ Alias(child, _) => a.toAttribute -> child })

  /**
   * The condition of an overwrite, of which Spark pads nothing: as that of a query, whose columns of CHAR are padded, for
   * other engines may not have done so, and what is compared with them too.
   */
  def padded(condition: Expression, relation: DataSourceV2Relation, table: SparkTable): Expression = {
    val notes = CharVarcharUtils.replaceCharVarcharWithStringInSchema(table.schema).map(f => f.name -> f.metadata).toMap
    val noted = relation.output.map(a => notes.get(a.name).fold(a)(a.withMetadata(_).asInstanceOf[AttributeReference]))
    val columns = AttributeMap(relation.output.zip(noted))
    val test = condition.transform { case a: Attribute => columns.getOrElse(a, a) }
    ApplyCharTypePadding(Filter(test, relation.copy(output = noted))) match {
      case Filter(shown, project: Project) => inside(shown, columnsOf(project))
      case Filter(shown, _) => shown
      case other => throw new IllegalStateException(s"Not a filter: $other")
    }
  }

  /** Subqueries name the columns of the table too. */
  private def inside(condition: Expression, padded: AttributeMap[Expression]): Expression = condition.transformDown {
    case a: Attribute => padded.getOrElse(a, a)
    case subquery: SubqueryExpression if subquery.references.exists(padded.contains) =>
      val plan = subquery.plan.transformAllExpressionsWithSubqueries {
        case OuterReference(a) if padded.contains(a.toAttribute) =>
          padded(a.toAttribute).transform { case raw: NamedExpression => OuterReference(raw) }
      }
      val outer = subquery.children.map(_.transform {
        case a: Attribute => padded.get(a).fold[Expression](a)(_.references.head)
      })
      subquery.withNewPlan(plan).withNewChildren(outer)
  }

  /** The rows that a statement leaves are those of the table, without the notes that Spark would look for in them. */
  private def withoutNotes(command: LogicalPlan): LogicalPlan = command match {
    case delete: DeleteFromTable => delete.copy(table = storedAs(delete.table))
    case merge: MergeIntoTable => merge.copy(targetTable = storedAs(merge.targetTable))
    case other => other
  }

  private def storedAs(target: LogicalPlan): LogicalPlan = target.transformDown {
    case relation: DataSourceV2Relation if isOurs(relation) => PaddedTargets.withoutNotes(relation)
  }

  /** The table with its columns as they are stored. */
  def withoutNotes(relation: DataSourceV2Relation): DataSourceV2Relation =
    relation.copy(output = relation.output.map(CharVarcharUtils.cleanAttrMetadata))

  private def withoutNote(assignment: Assignment): Assignment = assignment.value match {
    case Alias(value, _) => assignment.copy(value = value)
    case _ => assignment
  }
}

/** A column of CHAR as Spark reads it: values that are shorter than its length are padded with spaces. */
private[rules] object PaddedColumn {

  def unapply(e: Expression): Option[(Expression, Int)] = e match {
    case StaticInvoke(_, StringType, "readSidePadding", Seq(Column(text), Literal(length: Int, _)), _, _, _, _) =>
      Some((text, length))
    case _ => None
  }

  /** What a comparison of the padded value says of the column as it is stored, padded or not. */
  def test(e: BinaryComparison, text: Expression, length: Int, value: UTF8String): Option[ColumnTest] = {
    val upper = Literal(value, StringType)
    val lower = Literal(value.trimRight(), StringType)
    // A character below a space would stand before the padding.
    val isPlain = value.getBytes.forall(b => b < 0 || b >= ' ')
    val range = e match {
      case _: EqualTo | _: EqualNullSafe if value.numChars > length => Some(EqualTo(text, upper))
      // Between the value without its spaces and the one with all of them.
      case _: EqualTo | _: EqualNullSafe =>
        Some(And(
          GreaterThanOrEqual(text, lower),
          LessThanOrEqual(text, upper)
        ))
      case _: LessThan | _: LessThanOrEqual => Some(LessThanOrEqual(text, upper))
      case _: GreaterThan | _: GreaterThanOrEqual if isPlain => Some(GreaterThanOrEqual(text, lower))
      case _ => None
    }
    range.map(ColumnTest(_, isExact = false))
  }
}
