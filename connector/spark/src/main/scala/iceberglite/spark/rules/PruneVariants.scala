package iceberglite.spark.rules

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.connector.read.Scan
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2ScanRelation
import org.apache.spark.unsafe.types.UTF8String

import iceberglite.data.VariantPath
import iceberglite.spark.convert.VariantForm
import iceberglite.spark.function.{VariantGet, VariantGetFunction}
import iceberglite.spark.read.IcebergScan
import iceberglite.spark.table.SparkTable
import iceberglite.spec.types.Type.VariantType

/**
 * Lets scans read only the parts of variants that a query uses, if it uses a column of variants only through
 * `system.variant_get` with constant paths. A scan whose variants are used in any other way reads them completely.
 */
private[iceberglite] object PruneVariants extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (plan.exists(hasVariants)) {
      val result = of(plan, Uses.whole(plan.output))
      withBuildSides(result, scansOf(plan).zip(scansOf(result)).filter { case (before, after) => before ne after })
    } else plan

  private def scansOf(plan: LogicalPlan): Seq[Scan] = plan.collect { case r: DataSourceV2ScanRelation => r.scan }

  /**
   * Replaces scans in the copies of build sides of joins, from which Spark computes runtime filters. Spark only uses
   * such a filter if its copy and the build side of the join are the same query.
   */
  private def withBuildSides(plan: LogicalPlan, replaced: Seq[(Scan, Scan)]): LogicalPlan =
    if (replaced.isEmpty) plan
    else plan.transformAllExpressions { case filter: DynamicPruningSubquery =>
      filter.withNewPlan(filter.plan.transform { case relation: DataSourceV2ScanRelation =>
        replaced.collectFirst { case (before, after) if before eq relation.scan => relation.copy(scan = after) }
          .getOrElse(relation)
      })
    }

  private def hasVariants(node: LogicalPlan): Boolean = node match {
    case relation: DataSourceV2ScanRelation => variantsOf(relation).nonEmpty
    case _ => false
  }

  /** Returns the columns of variants by field id that a scan returns completely as JSON text. */
  private def variantsOf(relation: DataSourceV2ScanRelation): Map[Int, Attribute] =
    (relation.scan, relation.relation.table) match {
      case (scan: IcebergScan, _: SparkTable)
          if scan.settings.variants == VariantForm.Json && scan.scanColumns.parts.isEmpty =>
        scan.scanColumns.fields.filter(_.fieldType == VariantType).flatMap { field =>
          relation.output.find(_.name == field.name).map(field.id -> _)
        }.toMap
      case _ => Map.empty
    }

  /** @param above how the nodes above use the output of the node */
  private def of(node: LogicalPlan, above: Uses): LogicalPlan = node match {
    case relation: DataSourceV2ScanRelation => pruned(relation, above)
    case Project(list, child) =>
      // A column that is only passed on is used as the nodes above use it.
      val (passed, others) = list.partition(_.isInstanceOf[Attribute])
      val uses = above.only(passed.map(_.exprId).toSet) ++ Uses.in(others)
      node.withNewChildren(Seq(of(child, uses)))
    case Filter(condition, child) => node.withNewChildren(Seq(of(child, above ++ Uses.in(Seq(condition)))))
    case Aggregate(grouping, aggregates, child) =>
      node.withNewChildren(Seq(of(child, Uses.in(grouping ++ aggregates))))
    case Sort(order, _, child) => node.withNewChildren(Seq(of(child, above ++ Uses.in(order))))
    case _: GlobalLimit | _: LocalLimit => node.withNewChildren(node.children.map(of(_, above)))
    case join: Join =>
      val uses = above ++ Uses.in(join.condition.toSeq)
      join.withNewChildren(join.children.map(of(_, uses)))
    case other => other.withNewChildren(other.children.map(child => of(child, Uses.whole(child.output))))
  }

  private def pruned(relation: DataSourceV2ScanRelation, uses: Uses): LogicalPlan = {
    val parts = variantsOf(relation).collect {
      case (id, column) if !uses.complete(column.exprId) => id -> uses.parts.getOrElse(column.exprId, Set.empty)
    }.filter { case (_, paths) => paths.nonEmpty && paths.forall(_.steps.nonEmpty) }
    relation.scan match {
      case scan: IcebergScan if parts.nonEmpty => relation.copy(scan = scan.withParts(parts))
      case _ => relation
    }
  }

  /**
   * How expressions use columns.
   *
   * @param complete the columns whose values are used
   * @param parts the paths of columns of which parts are used
   */
  final private case class Uses(complete: Set[ExprId], parts: Map[ExprId, Set[VariantPath]]) {
    def ++(more: Uses): Uses = Uses(
      complete ++ more.complete,
      more.parts.foldLeft(parts) { case (all, (id, paths)) => all.updated(id, all.getOrElse(id, Set.empty) ++ paths) }
    )

    def only(columns: Set[ExprId]): Uses =
      Uses(complete.intersect(columns), parts.filter { case (id, _) => columns(id) })
  }

  private object Uses {
    private val Unused = Uses(Set.empty, Map.empty)

    def whole(columns: Seq[Attribute]): Uses = Uses(columns.map(_.exprId).toSet, Map.empty)

    def in(expressions: Seq[Expression]): Uses = expressions.foldLeft(Unused)(_ ++ in(_))

    private def in(e: Expression): Uses = e match {
      case Part(column, path) => Uses(Set.empty, Map(column.exprId -> Set(path)))
      case IsNull(_: Attribute) | IsNotNull(_: Attribute) => Unused
      case column: Attribute => Uses(Set(column.exprId), Map.empty)
      case _: SubqueryExpression => Uses(e.references.map(_.exprId).toSet, Map.empty) ++ in(e.children)
      case other => in(other.children)
    }
  }

  /** A call of `system.variant_get` or `system.try_variant_get` on a column. */
  private object Part {
    def unapply(e: Expression): Option[(Attribute, VariantPath)] = e match {
      case VariantGet(column: Attribute, path, _, _, _) => Some(column -> path)
      case ApplyFunctionExpression(
            _: VariantGetFunction.Untyped,
            Seq(column: Attribute, Literal(path: UTF8String, _))
          ) =>
        VariantPath.of(path.toString).map(column -> _)
      case _ => None
    }
  }
}
