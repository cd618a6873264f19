package iceberglite.spark.rules

import org.apache.spark.sql.catalyst.expressions.objects.AssertNotNull
import org.apache.spark.sql.catalyst.expressions.{
  Alias,
  AttributeReference,
  Expression,
  GetStructField,
  IsNotNull,
  IsNull,
  OuterReference,
  SubqueryExpression
}
import org.apache.spark.sql.catalyst.plans.logical.{
  Assignment,
  DeleteAction,
  DeleteFromTable,
  InsertAction,
  LogicalPlan,
  MergeAction,
  MergeIntoTable,
  UpdateAction,
  UpdateTable
}
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation

import iceberglite.spark.constraint.RequiredValue
import iceberglite.spark.convert.VariantsAsJson
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.Type
import iceberglite.spec.types.Type.StructType

/**
 * Adapts statements that rewrite rows to a scan that returns variants in their exact form
 * (`iceberglite.spark.convert.VariantText`). The values of the target's columns pass through the statement unchanged,
 * so that a rewritten row keeps the types that JSON text lacks. The conditions and the expressions of the user see JSON
 * text, as in queries.
 */
final private[rules] class ExactVariants(schema: Schema, relation: DataSourceV2Relation) {

  /** Whether a column of the table contains variants. If not, the methods return their arguments. */
  val isNeeded: Boolean = schema.fields.exists(f => VariantsAsJson.isNeeded(f.fieldType))

  def command(plan: LogicalPlan): LogicalPlan = if (!isNeeded) plan
  else plan match {
    case d: DeleteFromTable => d.copy(condition = ofUser(d.condition))
    case u: UpdateTable => u.copy(assignments = assigned(u.assignments), condition = u.condition.map(ofUser))
    case m: MergeIntoTable =>
      val source = ExactRows.of(m.sourceTable)
      val merge = if (source.shapes.isEmpty || ExactRows.hasSubquery(m)) m
      else m.mapExpressions(source.ofUser).asInstanceOf[MergeIntoTable].copy(sourceTable = source.plan)
      merge.copy(
        mergeCondition = ofUser(merge.mergeCondition),
        matchedActions = merge.matchedActions.map(action),
        notMatchedActions = merge.notMatchedActions.map(action),
        notMatchedBySourceActions = merge.notMatchedBySourceActions.map(action)
      )
    case other => other
  }

  private def action(action: MergeAction): MergeAction = action match {
    case u: UpdateAction => u.copy(condition = u.condition.map(ofUser), assignments = assigned(u.assignments))
    case i: InsertAction => i.copy(condition = i.condition.map(ofUser), assignments = assigned(i.assignments))
    case d: DeleteAction => d.copy(condition = d.condition.map(ofUser))
    case other => other
  }

  private def assigned(assignments: Seq[Assignment]): Seq[Assignment] = assignments.map { a =>
    a.key match {
      // Variants that are copied from columns keep their exact form.
      case Column(t) if VariantsAsJson.isNeeded(t) => a.copy(value = VariantShapes.exact(ofUser(a.value), t))
      case _ => a.copy(value = ofUser(a.value))
    }
  }

  /** Returns an expression of the user, in which the variants of columns are JSON text. */
  def ofUser(expression: Expression): Expression = if (!isNeeded) expression
  else expression match {
    case VariantsAsJson(Column(_), _) => expression
    case IsNull(Column(_)) | IsNotNull(Column(_)) => expression
    case Column(t) => if (VariantsAsJson.isNeeded(t)) VariantsAsJson(expression, t) else expression
    case subquery: SubqueryExpression =>
      subquery.withNewPlan(subquery.plan.transformWithSubqueries { case node => node.mapExpressions(ofNode) })
    case other => other.mapChildren(ofUser)
  }

  /** Converts an expression of a plan's node. An element of a select list must keep its name and id. */
  private def ofNode(expression: Expression): Expression = (expression, inSubquery(expression)) match {
    case (outer: OuterReference, converted: VariantsAsJson) => Alias(converted, outer.name)(exprId = outer.exprId)
    case (_, converted) => converted
  }

  private def inSubquery(expression: Expression): Expression = expression match {
    case VariantsAsJson(OuterReference(Column(_)), _) => expression
    case OuterReference(Column(t)) => if (VariantsAsJson.isNeeded(t)) VariantsAsJson(expression, t) else expression
    case other => other.mapChildren(inSubquery)
  }

  /** Matches a column of the table or a field of its structs, with or without checks for null. Returns its type. */
  private object Column {
    def unapply(expression: Expression): Option[Type] = expression match {
      case column: AttributeReference if relation.outputSet.contains(column) =>
        schema.fields.find(_.name == column.name).map(_.fieldType)
      case AssertNotNull(Column(t), _) => Some(t)
      case RequiredValue(Column(t), _) => Some(t)
      case GetStructField(Column(StructType(fields)), ordinal, _) => fields.lift(ordinal).map(_.fieldType)
      case _ => None
    }
  }
}
