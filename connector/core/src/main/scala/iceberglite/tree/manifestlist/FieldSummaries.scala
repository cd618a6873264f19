package iceberglite.tree.manifestlist

import iceberglite.avro.LiteralWriter
import iceberglite.spec.file.FieldSummary
import iceberglite.spec.partition.PartitionTuple
import iceberglite.spec.types.{Literal, SingleValue, Type}
import iceberglite.spec.types.Literal.{DoubleLiteral, FloatLiteral}
import iceberglite.spec.types.Type.StructType

/**
 * Computes the partition field summaries of a manifest while it is written (spec: `field_summary`).
 *
 * @param partitionType the types of the partition values in the manifest, which are also the types of the bounds
 */
final private[manifestlist] class FieldSummaries(partitionType: StructType) {
  private val fields = partitionType.fields.map(f => new SummaryBuilder(f.fieldType)).toArray
  private var last = Option.empty[PartitionTuple]

  def add(tuple: PartitionTuple): Unit = if (!last.exists(_ eq tuple)) {
    last = Some(tuple)
    var i = 0
    while (i < fields.length) {
      fields(i).add(tuple.values(i))
      i += 1
    }
  }

  def result: Vector[FieldSummary] = fields.iterator.map(_.result).toVector

  /**
   * Summarizes one field. [[Literal.ordering]] sorts -0.0 before 0.0, as the specification requires for the bounds
   * (note 2 of `field_summary`).
   */
  final private class SummaryBuilder(fieldType: Type) {
    private var containsNull = false
    private var containsNan = false
    private var lower = Option.empty[Literal]
    private var upper = Option.empty[Literal]

    def add(value: Option[Literal]): Unit = value match {
      case None => containsNull = true
      case Some(FloatLiteral(v)) if v.isNaN => containsNan = true
      case Some(DoubleLiteral(v)) if v.isNaN => containsNan = true
      case Some(v) => widen(LiteralWriter.widen(v, fieldType))
    }

    private def widen(value: Literal): Unit = {
      if (lower.forall(Literal.ordering.gt(_, value))) lower = Some(value)
      if (upper.forall(Literal.ordering.lt(_, value))) upper = Some(value)
    }

    def result: FieldSummary =
      FieldSummary(containsNull, Some(containsNan), lower.map(SingleValue.encode), upper.map(SingleValue.encode))
  }
}
