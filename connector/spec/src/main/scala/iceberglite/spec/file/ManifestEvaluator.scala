package iceberglite.spec.file

import iceberglite.spec.expr.{BoundDecoder, ColumnRange, Expression, RangeEvaluator, Term}
import iceberglite.spec.partition.PartitionSpec
import iceberglite.spec.types.{Literal, NestedType, PrimitiveType}
import iceberglite.spec.types.Type.StructType

/**
 * Determines whether a part of a metadata tree, such as a manifest, may list files of matching partitions. Only the
 * partition summaries of the part are used (spec: "Scan Planning"), and not its file counts.
 *
 * @param projected a condition on the partitions of `spec`, which is the result of [[Project.inclusive]]
 */
final class ManifestEvaluator(projected: Expression, spec: PartitionSpec, partitionType: StructType) {
  private val test: Vector[FieldSummary] => Boolean = RangeEvaluator.mightMatch(projected, column)
  private val matchesAll = projected == Expression.AlwaysTrue

  /** Returns false only if no file of the part can match. The files of the part must have the partition spec `spec`. */
  def mightMatch(part: PartSummary): Boolean = matchesAll || testSummaries(part)

  private def testSummaries(part: PartSummary): Boolean = part.partitions match {
    case Some(summaries) if summaries.size == spec.fields.size => test(summaries)
    case _ => true
  }

  private def column(term: Term.Bound): Option[ColumnRange[Vector[FieldSummary]]] = {
    val position = spec.fields.indexWhere(_.fieldId == term.field.id)
    partitionType.byId.get(term.field.id).map(_.fieldType).flatMap {
      case t: PrimitiveType if position >= 0 => BoundDecoder.of(t).map(new SummaryRange(position, _))
      case _: PrimitiveType | _: NestedType => None
    }
  }
}

/**
 * The range of one partition field over the files of a part of a metadata tree. Bounds are absent if all values are
 * null or NaN (spec: `field_summary`).
 */
final private class SummaryRange(position: Int, bounds: BoundDecoder) extends ColumnRange[Vector[FieldSummary]] {
  override def mayBeNull(rows: Vector[FieldSummary]): Boolean = rows(position).containsNull

  override def mayBeNan(rows: Vector[FieldSummary]): Boolean =
    bounds.isFloating && !rows(position).containsNan.contains(false)

  override def mayBeOrdinary(rows: Vector[FieldSummary]): Boolean = {
    val summary = rows(position)
    summary.lowerBound.isDefined || summary.upperBound.isDefined || !(mayBeNull(rows) || mayBeNan(rows))
  }

  override def lower(rows: Vector[FieldSummary]): Option[Literal] =
    bounds.lower(rows(position).lowerBound, rows(position).upperBound)

  override def upper(rows: Vector[FieldSummary]): Option[Literal] =
    bounds.upper(rows(position).lowerBound, rows(position).upperBound)
}
