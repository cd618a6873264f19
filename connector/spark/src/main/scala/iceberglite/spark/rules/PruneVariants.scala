package iceberglite.spark.rules

import org.apache.spark.sql.catalyst.expressions.DynamicPruningSubquery
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.connector.read.Scan
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2ScanRelation

import iceberglite.spark.convert.VariantForm
import iceberglite.spark.read.IcebergScan
import iceberglite.spark.table.SparkTable
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.Type.{StructType, VariantType}

/**
 * Lets scans read only the parts of variants that a query uses, if it uses a variant only through `system.variant_get`
 * with constant paths. A variant is a column or a field of a struct. If it is used in any other way, it is read
 * completely.
 */
private[iceberglite] object PruneVariants extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (plan.exists(hasVariants)) {
      val result = of(plan, VariantUses.whole(plan.output))
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

  /** Returns the columns and fields of structs, by field id, whose variants a scan returns completely as JSON text. */
  private def variantsOf(relation: DataSourceV2ScanRelation): Map[Int, ValuePlace] =
    (relation.scan, relation.relation.table) match {
      case (scan: IcebergScan, _: SparkTable)
          if scan.settings.variants == VariantForm.Json && scan.scanColumns.parts.isEmpty =>
        scan.scanColumns.fields.flatMap { field =>
          relation.output.find(_.name == field.name).toVector.flatMap(c => variantsIn(field, ValuePlace.of(c)))
        }.toMap
      case _ => Map.empty
    }

  private def variantsIn(field: NestedField, place: ValuePlace): Vector[(Int, ValuePlace)] = field.fieldType match {
    case VariantType => Vector(field.id -> place)
    case StructType(fields) => fields.zipWithIndex.flatMap { case (f, i) => variantsIn(f, place / i) }
    case _ => Vector.empty
  }

  /**
   * @param above how the nodes above use the output of the node. Nodes that are not listed use complete values. A
   *   repartitioning is not listed, because Spark adds it to a query that a statement names several times (`WITH`), and
   *   computes the query only once if its copies are equal.
   */
  private def of(node: LogicalPlan, above: VariantUses): LogicalPlan = node match {
    case relation: DataSourceV2ScanRelation => pruned(relation, above)
    case Project(list, child) =>
      val (passed, others) = list.partition(ValuePlace.passedOn(_).isDefined)
      val uses = above.from(passed.flatMap(ValuePlace.passedOn(_))) ++ VariantUses.in(others)
      node.withNewChildren(Seq(of(child, uses)))
    case Aggregate(grouping, aggregates, child) =>
      node.withNewChildren(Seq(of(child, VariantUses.in(grouping ++ aggregates))))
    case union: Union => union.withNewChildren(union.children.map { child =>
        of(child, above.from(union.output.map(_.exprId).zip(child.output.map(ValuePlace.of))))
      })
    // The columns of the children remain columns of these nodes.
    case _: Filter | _: Sort | _: GlobalLimit | _: LocalLimit | _: Offset | _: Join | _: Window |
        _: WindowGroupLimit | _: Generate =>
      val uses = above ++ VariantUses.in(node.expressions)
      node.withNewChildren(node.children.map(of(_, uses)))
    case other => other.withNewChildren(other.children.map(child => of(child, VariantUses.whole(child.output))))
  }

  private def pruned(relation: DataSourceV2ScanRelation, uses: VariantUses): LogicalPlan = {
    val parts = variantsOf(relation).flatMap { case (id, variant) => uses.partsOf(variant).map(id -> _) }
    relation.scan match {
      case scan: IcebergScan if parts.nonEmpty => relation.copy(scan = scan.withParts(parts))
      case _ => relation
    }
  }
}
