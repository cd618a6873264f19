package iceberglite.table.action

import java.util.concurrent.ConcurrentHashMap

import iceberglite.spec.expr.{Bind, Expression, Project, Residual}
import iceberglite.spec.expr.Expression.{AlwaysFalse, AlwaysTrue}
import iceberglite.spec.file.{
  Content,
  ContentFile,
  InclusiveMetrics,
  ManifestEntry,
  ManifestEvaluator,
  MetricMaps,
  PartSummary,
  StrictMetrics
}
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.partition.{PartitionSpec, PartitionTuple}
import iceberglite.table.ConflictFilter
import iceberglite.tree.PartitionSpecs

/** How many rows of a file match a filter, as far as its partition and metrics show. */
sealed trait Match
object Match {
  case object None extends Match
  case object Some extends Match
  case object All extends Match
}

/**
 * A filter on the rows of a table, evaluated for whole files. Thread-safe.
 *
 * @param filter unbound, or bound to the table's current schema
 */
final class RowFilter(filter: Expression, caseSensitive: Boolean, base: TableMetadata) extends ConflictFilter {
  private val bound = Bind(filter, base.schema, caseSensitive)
  private val sources = PartitionSpecs.sources(base, base.schema)
  private val bySpec: Map[Int, OfSpec] = base.specs.map(s => s.specId -> new OfSpec(s)).toMap

  override def mightMatch(part: PartSummary): Boolean = bySpec(part.specId).parts.mightMatch(part)

  override def mightMatch(entry: ManifestEntry): Boolean = matches(entry) != Match.None

  /** Returns how many rows match. A delete file matches completely if all rows match that it can apply to. */
  def matches(entry: ManifestEntry): Match = bySpec(entry.file.specId).rowsOf(entry.file.partition).matches(entry.file)

  override def description: String = s"where $filter"

  private class OfSpec(spec: PartitionSpec) {
    val parts =
      new ManifestEvaluator(Project.inclusive(bound, spec, sources), spec, spec.partitionType(sources))
    private val residual = new Residual(bound, spec, sources)
    private val partitions = new ConcurrentHashMap[PartitionTuple, OfPartition]

    def rowsOf(partition: PartitionTuple): OfPartition =
      partitions.computeIfAbsent(partition, p => new OfPartition(residual.of(p)))
  }

  private class OfPartition(residual: Expression) {
    private lazy val strict = new StrictMetrics(residual)
    private lazy val inclusive = new InclusiveMetrics(residual)

    def matches(file: ContentFile): Match = residual match {
      case AlwaysTrue => Match.All
      case AlwaysFalse => Match.None
      case _ => file.content match {
          case Content.Data => byMetrics(file)
          case Content.PositionDeletes => Match.Some
          case Content.EqualityDeletes => byMetrics(keysOf(file))
        }
    }

    private def byMetrics(file: ContentFile): Match =
      if (strict.allMatch(file)) Match.All
      else if (inclusive.mightMatch(file)) Match.Some
      else Match.None
  }

  /**
   * Returns the file with the metrics of its key columns only. The other columns of an equality delete file say nothing
   * about the rows that it deletes.
   */
  private def keysOf(file: ContentFile): ContentFile = {
    val m = file.metrics
    def keys[A](of: Option[Map[Int, A]]): Option[Map[Int, A]] =
      of.map(_.filter { case (id, _) => file.equalityIds.contains(id) })
    file.copy(metrics =
      MetricMaps(
        None,
        keys(m.valueCounts),
        keys(m.nullValueCounts),
        keys(m.nanValueCounts),
        keys(m.lowerBounds),
        keys(m.upperBounds)
      )
    )
  }
}
