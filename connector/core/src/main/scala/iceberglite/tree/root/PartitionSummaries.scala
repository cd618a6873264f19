package iceberglite.tree.root

import iceberglite.spec.file.FieldSummary
import iceberglite.spec.types.{Literal, LiteralConversion, SingleValue}

/**
 * Computes the partition summaries of a manifest, or of the files that a root lists itself, from their statistics,
 * because version 4 does not store partition summaries.
 */
private[root] object PartitionSummaries {

  /** The summary of a field with the transform void, whose values are always null. */
  private val OfVoid =
    FieldSummary(containsNull = true, containsNan = Some(false), lowerBound = None, upperBound = None)

  /**
   * Returns a summary for each partition field of the given partition spec; absent if the statistics of any field are
   * incomplete, because in a summary, absent bounds mean that all values are null or NaN.
   */
  def of(specId: Int, stats: ContentStats, columns: StatsColumns): Option[Vector[FieldSummary]] = {
    val summaries = columns.keysOf(specId).map {
      case None => Some(OfVoid)
      case Some(key) => stats.get(key.id).flatMap(summary(_, key))
    }
    if (summaries.forall(_.isDefined)) Some(summaries.flatten) else None
  }

  private def summary(stats: FieldStats, key: PartitionFieldKey): Option[FieldSummary] = {
    def bound(value: Option[Literal]) =
      value.flatMap(LiteralConversion.to(_, key.partitionType)).map(SingleValue.encode)
    val result = FieldSummary(
      containsNull = !stats.nullCount.contains(0L),
      containsNan = stats.nanCount.map(_ > 0),
      lowerBound = bound(stats.lower),
      upperBound = bound(stats.upper.orElse(stats.lower))
    )
    Some(result).filter(s => s.lowerBound.isDefined && s.upperBound.isDefined || stats.hasNoOrdinaryValues)
  }
}
