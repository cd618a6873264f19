package iceberglite.io

import iceberglite.spec.{FieldSummary, Literal, PartitionTuple, SingleValue}
import iceberglite.spec.Literal.{DoubleLiteral, FloatLiteral}

/** Sums up the partition tuples of a manifest while it is written (spec: `field_summary`). */
final private[io] class FieldSummaries(size: Int) {
  private val fields = Vector.fill(size)(new OneField)
  private var last = Option.empty[PartitionTuple]

  def add(tuple: PartitionTuple): Unit = if (!last.exists(_ eq tuple)) {
    last = Some(tuple)
    var i = 0
    while (i < size) {
      fields(i).add(tuple.values(i))
      i += 1
    }
  }

  def result: Vector[FieldSummary] = fields.map(_.result)

  /** [[Literal.ordering]] has -0.0 before 0.0, as note 2 of the struct demands it of the bounds. */
  final private class OneField {
    private var containsNull = false
    private var containsNan = false
    private var lower = Option.empty[Literal]
    private var upper = Option.empty[Literal]

    def add(value: Option[Literal]): Unit = value match {
      case None => containsNull = true
      case Some(FloatLiteral(v)) if v.isNaN => containsNan = true
      case Some(DoubleLiteral(v)) if v.isNaN => containsNan = true
      case Some(v) =>
        if (lower.forall(Literal.ordering.gt(_, v))) lower = value
        if (upper.forall(Literal.ordering.lt(_, v))) upper = value
    }

    def result: FieldSummary =
      FieldSummary(containsNull, Some(containsNan), lower.map(SingleValue.encode), upper.map(SingleValue.encode))
  }
}
