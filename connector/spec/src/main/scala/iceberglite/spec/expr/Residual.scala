package iceberglite.spec.expr

import iceberglite.spec.expr.Expression._
import iceberglite.spec.partition.{PartitionSpec, PartitionTuple}
import iceberglite.spec.schema.Schema

/**
 * Computes the residual of a filter for the rows of one partition (spec: "Scan Planning", note 1). The residual omits
 * the predicates whose results are determined by the partition values.
 *
 * @param bound a condition on rows
 * @param spec the partition spec of the partitions
 * @param schema the schema to which `bound` is bound
 */
final class Residual(bound: Expression, spec: PartitionSpec, schema: Schema) {
  private val projection = new PartitionProjection(spec, schema)
  private val residual: PartitionTuple => Expression = compile(withoutNot(bound))

  /** Returns the residual for a partition. It matches the same rows of the partition as the whole filter. */
  def of(partition: PartitionTuple): Expression = residual(partition)

  private def compile(e: Expression): PartitionTuple => Expression = e match {
    case And(l, r) =>
      val (left, right) = (compile(l), compile(r))
      partition => and(left(partition), right(partition))
    case Or(l, r) =>
      val (left, right) = (compile(l), compile(r))
      partition => or(left(partition), right(partition))
    case p: Predicate => leaf(p)
    case AlwaysTrue | AlwaysFalse => _ => e
    case Not(child) => compile(negate(child))
  }

  private def leaf(p: Predicate): PartitionTuple => Expression = {
    val (inclusive, strict) = (projection.inclusive(p), projection.strict(p))
    if (inclusive == AlwaysTrue && strict == AlwaysFalse) { _ => p }
    else {
      val mightMatch = Evaluate.tuple(inclusive, spec)
      val allMatch = Evaluate.tuple(strict, spec)
      partition => if (!mightMatch(partition)) AlwaysFalse else if (allMatch(partition)) AlwaysTrue else p
    }
  }
}
