package iceberglite.spark.rules

import org.apache.spark.sql.catalyst.expressions.{
  Alias,
  AttributeReference,
  Expression,
  ExprId,
  GetStructField,
  NamedExpression,
  SubqueryExpression
}
import org.apache.spark.sql.catalyst.plans.logical.{
  Filter,
  GlobalLimit,
  LocalLimit,
  LogicalPlan,
  Project,
  RepartitionOperation,
  Sort,
  SubqueryAlias,
  UnaryNode,
  Union,
  V2WriteCommand
}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.connector.catalog.TableCapability
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation

import iceberglite.spark.convert.VariantsAsJson
import iceberglite.spark.table.SparkTable
import iceberglite.spec.types.Type
import iceberglite.spec.types.Type.VariantType

/**
 * Writes the results of `to_variant` exactly, if they are written to variants. A query returns JSON text, which lacks
 * some of the types. Therefore, the exact form passes through the projections, filters, orders and unions of the
 * written query, in which the expressions of the user still see JSON text.
 */
object WriteExactVariants extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperators {
    case write: V2WriteCommand if write.resolved =>
      write.table match {
        case DataSourceV2Relation(table: SparkTable, _, _, _, _) if hasVariants(table) =>
          write.withNewQuery(written(write.query, table))
        case _ => write
      }
  }

  private def hasVariants(table: SparkTable): Boolean =
    table.table.schema.fields.exists(f => VariantsAsJson.isNeeded(f.fieldType))

  private def written(query: LogicalPlan, table: SparkTable): LogicalPlan = {
    val rows = ExactRows.of(query)
    if (rows.shapes.isEmpty) query
    else {
      val values = rows.plan.output.map { value =>
        rows.shapes.get(value.exprId) match {
          case Some(shape) if !isExact(value.name, shape, table) => Alias(VariantsAsJson(value, shape), value.name)()
          case _ => value
        }
      }
      if (values.exists(_.isInstanceOf[Alias])) Project(values, rows.plan) else rows.plan
    }
  }

  /**
   * Whether all exact variants of a column are written to variants. The columns of a write are matched by name. In a
   * table that accepts any schema, the fields of structs are too, in any order, and the shape has no names.
   */
  private def isExact(name: String, shape: Type, table: SparkTable): Boolean =
    table.table.schema.fields.find(c => conf.resolver(c.name, name)).exists { column =>
      if (table.capabilities.contains(TableCapability.ACCEPT_ANY_SCHEMA))
        shape == VariantType && column.fieldType == VariantType
      else VariantShapes.fits(shape, column.fieldType)
    }
}

/**
 * A query whose result contains exact variants.
 *
 * @param shapes the shapes of the columns that contain them, as in [[VariantShapes]]
 */
final private[rules] case class ExactRows(plan: LogicalPlan, shapes: Map[ExprId, Type]) {

  /** Returns an expression on the columns that sees JSON text. */
  def ofUser(expression: Expression): Expression = expression.transformUp {
    case column: AttributeReference => shapes.get(column.exprId).fold[Expression](column)(VariantsAsJson(column, _))
    case struct: GetStructField => VariantShapes.field(struct)
  }
}

private[rules] object ExactRows {

  /** Returns the query with exact variants in the columns whose values are exact variants that were made JSON text. */
  def of(query: LogicalPlan): ExactRows = query match {
    case project: Project =>
      val rows = of(project.child)
      ofProject(project, if (hasSubquery(project)) ExactRows(project.child, Map.empty) else rows)
    case union: Union => ofUnion(union, union.children.map(of))
    case _: Filter | _: Sort | _: GlobalLimit | _: LocalLimit | _: SubqueryAlias | _: RepartitionOperation =>
      val rows = of(query.asInstanceOf[UnaryNode].child)
      if (rows.shapes.isEmpty || hasSubquery(query)) ExactRows(query, Map.empty)
      else ExactRows(query.withNewChildren(Seq(rows.plan)).mapExpressions(rows.ofUser), rows.shapes)
    case _ => ExactRows(query, Map.empty)
  }

  /** Whether a node has a subquery, which may refer to the columns of the node. */
  def hasSubquery(node: LogicalPlan): Boolean =
    node.expressions.exists(_.exists(_.isInstanceOf[SubqueryExpression]))

  private def ofProject(project: Project, rows: ExactRows): ExactRows = {
    val columns = project.projectList.map {
      case column: AttributeReference => column -> rows.shapes.get(column.exprId)
      case other =>
        val value = if (rows.shapes.isEmpty) other else rows.ofUser(other)
        val shape = VariantShapes.of(value)
        shape.fold(value)(VariantShapes.exact(value, _)).asInstanceOf[NamedExpression] -> shape
    }
    val shapes = columns.collect { case (column, Some(t)) => column.exprId -> t }.toMap
    if (shapes.isEmpty && rows.shapes.isEmpty) ExactRows(project, Map.empty)
    else ExactRows(Project(columns.map(_._1), rows.plan), shapes)
  }

  private def ofUnion(union: Union, branches: Seq[ExactRows]): ExactRows =
    if (branches.forall(_.shapes.isEmpty)) ExactRows(union, Map.empty)
    else {
      val shapes = branches.map(b => b.plan.output.map(column => b.shapes.get(column.exprId))).transpose
        .map(VariantShapes.merged)
      val plan = union.withNewChildren(branches.map(_.plan))
      ExactRows(plan, plan.output.zip(shapes).collect { case (column, Some(t)) => column.exprId -> t }.toMap)
    }
}
