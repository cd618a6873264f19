package iceberglite.spark.read.report

import iceberglite.spec.Literal
import iceberglite.spec.expr.Evaluate
import iceberglite.spec.expr.Expression
import iceberglite.spec.expr.Expression._

/** What came with the rows of a join's other side, for the parts of the files that are left. */
private[read] object JoinFilter {

  /** Every task carries the condition, and every row group and page is tested by it: longer lists become ranges. */
  private val MostValues = 100

  /** Holds for every row that the condition holds for. */
  def forRows(bound: Expression): Expression = bound match {
    case In(term, values) if values.size > MostValues =>
      implicit val ordering: Ordering[Literal] = Evaluate.ordering
      And(GreaterThanOrEqual(term, values.min), LessThanOrEqual(term, values.max))
    case And(l, r) => and(forRows(l), forRows(r))
    case Or(l, r) => or(forRows(l), forRows(r))
    case other => other
  }
}
