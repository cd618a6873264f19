package iceberglite.spec.expr

import iceberglite.spec.expr.Expression._
import iceberglite.spec.partition.{Identity, PartitionField, PartitionSpec}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.NestedField

/**
 * Projects a condition on rows to a condition on the partitions of a partition spec (spec: "Scan Planning"). The terms
 * of the result are bound to the partition fields by partition field id.
 */
object Project {

  /** Returns an expression that is true for the partition of every row for which `bound` is true. */
  def inclusive(bound: Expression, spec: PartitionSpec, schema: Schema): Expression =
    new PartitionProjection(spec, schema).inclusive(withoutNot(bound))

  /** Returns an expression that is true only for partitions in which `bound` is true for every row. */
  def strict(bound: Expression, spec: PartitionSpec, schema: Schema): Expression =
    new PartitionProjection(spec, schema).strict(withoutNot(bound))
}

/** The inclusive and the strict projection to the fields of one partition spec. */
final private[expr] class PartitionProjection(spec: PartitionSpec, schema: Schema) {
  private val fields: Vector[(PartitionField, NestedField)] = spec.fields.zip(spec.partitionType(schema).fields)

  def inclusive(e: Expression): Expression = e match {
    case And(l, r) => and(inclusive(l), inclusive(r))
    case Or(l, r) => or(inclusive(l), inclusive(r))
    case p: Predicate =>
      fields
        .flatMap { case (field, target) =>
          projectField(field, target, p)((source, q) => source.transform.project(target, q))
        }
        .foldLeft[Expression](AlwaysTrue)(and)
    case AlwaysTrue | AlwaysFalse => e
    case Not(child) => inclusive(negate(child))
  }

  def strict(e: Expression): Expression = e match {
    case And(l, r) => and(strict(l), strict(r))
    case Or(l, r) => or(strict(l), strict(r))
    case p: Predicate =>
      fields
        .flatMap { case (field, target) =>
          projectField(field, target, p)((source, q) => source.transform.projectStrict(target, q))
        }
        .foldLeft[Expression](AlwaysFalse)(or)
    case AlwaysTrue | AlwaysFalse => e
    case Not(child) => strict(negate(child))
  }

  /**
   * Projects a predicate to a partition field. A predicate on a transformed column, such as `days(ts)`, can be
   * projected only to a partition field with the same transform.
   */
  private def projectField(field: PartitionField, target: NestedField, p: Predicate)(
      byTransform: (PartitionField, Predicate) => Option[Expression]
  ): Option[Expression] =
    if (field.sourceIds.size != 1) None
    else
      p.term match {
        case Term.Bound(column, _) if column.id == field.sourceId => byTransform(field, p)
        case Term.Transformed(transform, Term.Bound(column, _))
            if column.id == field.sourceId && transform == field.transform =>
          Some(Identity.replaceTerm(target, p))
        case _: Term.Bound | _: Term.Transformed | _: Term.Part | _: Term.Named => None
      }
}
