package iceberglite.spark.rules

import org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke
import org.apache.spark.sql.catalyst.expressions.{
  Alias,
  And,
  Attribute,
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

import iceberglite.spark.table.SparkTable

/**
 * Corrects Spark 3.5's handling of statements that change a table with CHAR or VARCHAR columns. Spark pads these
 * columns with a projection over the table. In a DELETE, or in a MERGE that only deletes, Spark does not find the table
 * below the projection. For these statements, this rule moves the padding into the conditions. In a MERGE with inserts,
 * the inserted values have the metadata of the declared CHAR or VARCHAR type, but the columns of the table do not, so
 * Spark does not match them. For these statements, this rule removes the metadata, because Spark has already added
 * expressions that check the lengths.
 */
object RewriteCharPadding extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperators {
    case delete: DeleteFromTable if delete.resolved => withoutCharMetadata(withPaddedConditions(delete, delete.table))
    case merge: MergeIntoTable if merge.resolved && merge.aligned && changesIcebergTable(merge.targetTable) =>
      if (onlyDeletes(merge)) withoutCharMetadata(withPaddedConditions(merge, merge.targetTable))
      else merge.copy(notMatchedActions = merge.notMatchedActions.map {
        case insert: InsertAction => insert.copy(assignments = insert.assignments.map(withoutCharMetadata))
        case other => other
      })
  }

  private def onlyDeletes(merge: MergeIntoTable): Boolean =
    (merge.matchedActions ++ merge.notMatchedActions ++ merge.notMatchedBySourceActions)
      .forall(_.isInstanceOf[DeleteAction])

  private def isIcebergTable(relation: DataSourceV2Relation): Boolean = relation.table.isInstanceOf[SparkTable]

  private def changesIcebergTable(target: LogicalPlan): Boolean =
    target.collectFirst { case relation: DataSourceV2Relation => isIcebergTable(relation) }.contains(true)

  /** Moves padding from the target of a command into the conditions of the command. */
  private def withPaddedConditions(command: LogicalPlan, target: LogicalPlan): LogicalPlan = {
    val padded = target.collectFirst {
      case project @ Project(_, relation: DataSourceV2Relation) if isIcebergTable(relation) =>
        val columns = columnsOf(project)
        command.transformDown { case p if p eq project => relation }.mapExpressions(pad(_, columns))
    }
    padded.getOrElse(command)
  }

  private def columnsOf(project: Project): AttributeMap[Expression] =
    AttributeMap(project.projectList.collect { case a @ Alias(child, _) => a.toAttribute -> child })

  /**
   * Pads the CHAR columns in the condition of an overwrite, and the values to which they are compared, because Spark
   * does not pad them. The columns must be padded, because other engines may have written values without padding.
   */
  def padded(condition: Expression, relation: DataSourceV2Relation, table: SparkTable): Expression = {
    val charMetadata =
      CharVarcharUtils.replaceCharVarcharWithStringInSchema(table.schema).map(f => f.name -> f.metadata).toMap
    val outputWithTypes =
      relation.output.map(a => charMetadata.get(a.name).fold(a)(m => a.copy(metadata = m)(a.exprId, a.qualifier)))
    val columns = AttributeMap(relation.output.zip(outputWithTypes))
    val test = condition.transform { case a: Attribute => columns.getOrElse(a, a) }
    ApplyCharTypePadding(Filter(test, relation.copy(output = outputWithTypes))) match {
      case Filter(filterCondition, project: Project) => pad(filterCondition, columnsOf(project))
      case Filter(filterCondition, _) => filterCondition
      case other => throw new IllegalStateException(s"Not a filter: $other")
    }
  }

  /** Replaces the columns of the table in a condition by their padded values, also in subqueries. */
  private def pad(condition: Expression, padded: AttributeMap[Expression]): Expression = condition.transformDown {
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

  /**
   * Removes the metadata of CHAR and VARCHAR types from the columns of the target of a DELETE or of a MERGE that only
   * deletes. Otherwise, Spark would compare this metadata too when it compares columns.
   */
  private def withoutCharMetadata(command: LogicalPlan): LogicalPlan = command match {
    case delete: DeleteFromTable => delete.copy(table = targetWithoutMetadata(delete.table))
    case merge: MergeIntoTable => merge.copy(targetTable = targetWithoutMetadata(merge.targetTable))
    case other => other
  }

  private def targetWithoutMetadata(target: LogicalPlan): LogicalPlan = target.transformDown {
    case relation: DataSourceV2Relation if isIcebergTable(relation) => RewriteCharPadding.withoutCharMetadata(relation)
  }

  /** Returns the relation without the metadata of CHAR and VARCHAR types. */
  def withoutCharMetadata(relation: DataSourceV2Relation): DataSourceV2Relation =
    relation.copy(output = relation.output.map(CharVarcharUtils.cleanAttrMetadata))

  private def withoutCharMetadata(assignment: Assignment): Assignment = assignment.value match {
    case Alias(value, _) => assignment.copy(value = value)
    case _ => assignment
  }
}

/**
 * Matches a CHAR column in the form in which Spark reads it: shorter values are padded with spaces to the column's
 * length.
 */
private[rules] object PaddedColumn {

  def unapply(e: Expression): Option[(Expression, Int)] = e match {
    case StaticInvoke(
          _,
          StringType,
          "readSidePadding",
          Seq(PushableColumn(text), Literal(length: Int, _)),
          _,
          _,
          _,
          _
        ) =>
      Some((text, length))
    case _ => None
  }

  /**
   * Converts a comparison of the padded value to a test of the stored value. The stored value may or may not have
   * padding.
   */
  def test(e: BinaryComparison, text: Expression, length: Int, value: UTF8String): Option[ColumnTest] = {
    val upper = Literal(value, StringType)
    val lower = Literal(value.trimRight(), StringType)
    // A control character sorts before a space. Therefore, a value with a control character can be less than a padded
    // value but greater than the stored value without padding, and the range below would exclude the stored value.
    val hasNoControlCharacters = value.getBytes.forall(b => b < 0 || b >= ' ')
    val range = e match {
      case _: EqualTo | _: EqualNullSafe if value.numChars > length => Some(EqualTo(text, upper))
      // The stored value is between the value without trailing spaces and the fully padded value.
      case _: EqualTo | _: EqualNullSafe =>
        Some(And(
          GreaterThanOrEqual(text, lower),
          LessThanOrEqual(text, upper)
        ))
      case _: LessThan | _: LessThanOrEqual => Some(LessThanOrEqual(text, upper))
      case _: GreaterThan | _: GreaterThanOrEqual if hasNoControlCharacters => Some(GreaterThanOrEqual(text, lower))
      case _ => None
    }
    range.map(ColumnTest(_, isExact = false))
  }
}
