package iceberglite.scan

import java.util.IdentityHashMap
import java.util.concurrent.ConcurrentHashMap

import iceberglite.data.VariantBoundsReader
import iceberglite.spec.expr.{Evaluate, Expression, Project, Residual}
import iceberglite.spec.expr.Expression.{AlwaysFalse, AlwaysTrue}
import iceberglite.spec.file.{
  InclusiveMetrics,
  ManifestContent,
  ManifestEvaluator,
  HasMetrics,
  PartSummary,
  StrictMetrics
}
import iceberglite.spec.partition.{PartitionSpec, PartitionTuple}
import iceberglite.spec.schema.Schema
import iceberglite.tree.{PartFilter, PartitionSpecs}

/**
 * A filter on the rows of a table, evaluated on the parts of a metadata tree (manifests in format versions 1 to 3) and
 * on files. The filter is first evaluated on partitions. After that, the residual for a partition is evaluated on the
 * metrics of the partition's files. Thread-safe.
 *
 * @param bound the filter, bound to the reader's schema
 */
final class FileFilter(bound: Expression, specs: PartitionSpecs) extends PartFilter {
  private val filters = new ConcurrentHashMap[Int, SpecFilter]

  /**
   * Returns the filter for a part's partition spec.
   *
   * @throws IcebergError.InvalidMetadata if the table does not have this partition spec
   */
  def of(part: PartSummary): SpecFilter = filters.computeIfAbsent(part.specId, _ => ofSpec(specs.of(part)))

  def of(spec: PartitionSpec): SpecFilter = filters.computeIfAbsent(spec.specId, _ => ofSpec(spec))

  private def ofSpec(spec: PartitionSpec): SpecFilter = new SpecFilter(bound, spec, specs.sources)

  override def mightMatch(part: PartSummary): Boolean = of(part).mightMatch(part)
}

/** A filter on rows, projected to the files of one partition spec. Thread-safe. */
final class SpecFilter private[scan] (bound: Expression, spec: PartitionSpec, sources: Schema) {
  private val projected = Project.inclusive(bound, spec, sources)
  private lazy val summaries = new ManifestEvaluator(projected, spec, spec.partitionType(sources))
  private lazy val columns = new InclusiveMetrics(bound, Some(VariantBoundsReader))
  private val partitions = Evaluate.tuple(projected, spec)
  private val residuals = new Residual(bound, spec, sources)

  /**
   * Returns whether the part may list live files that match, according to its partition summaries. If the part lists
   * data files and has column metrics, these are used too.
   */
  def mightMatch(part: PartSummary): Boolean =
    mightHavePartition(part) && (part.content == ManifestContent.Deletes || columns.mightMatch(part))

  /**
   * Returns whether the part may list files in matching partitions, including removed files. Column metrics are not
   * used, because they do not cover removed files.
   */
  def mightHavePartition(part: PartSummary): Boolean = summaries.mightMatch(part)

  /** Computes the filter on the rows of a partition. [[byPartition]] returns a cache of these filters. */
  def forPartition(partition: PartitionTuple): PartitionFilter =
    new PartitionFilter(if (partitions(partition)) residuals.of(partition) else AlwaysFalse)

  /** Creates a cache of the filters on the rows of partitions. */
  def byPartition: PartitionFilters = new PartitionFilters(this, bound)
}

/** A filter on the rows of one partition. */
final class PartitionFilter(val residual: Expression) {
  private lazy val inclusive = new InclusiveMetrics(residual, Some(VariantBoundsReader))
  private lazy val strict = new StrictMetrics(residual)

  /** Whether no row of the partition matches. */
  val isEmpty: Boolean = residual == AlwaysFalse

  /** Whether all rows of the partition match. */
  val isAll: Boolean = residual == AlwaysTrue

  /** Whether a file of the partition may have a matching row. */
  def mightMatch(file: HasMetrics): Boolean = isAll || !isEmpty && inclusive.mightMatch(file)

  /** Whether all rows of a file of the partition are known to match. */
  def allMatch(file: HasMetrics): Boolean = isAll || !isEmpty && strict.allMatch(file)
}

/**
 * Caches the filters of partitions. Partition tuples are compared by reference, because files of the same part and
 * partition share the tuple. The last filter is kept separately, because these files are often adjacent. Not
 * thread-safe.
 */
final class PartitionFilters private[scan] (filter: SpecFilter, bound: Expression) {
  private val everything = new PartitionFilter(AlwaysTrue)
  private val cached = new IdentityHashMap[PartitionTuple, PartitionFilter]
  private var lastTuple = PartitionTuple.Empty
  private var last = everything

  def of(tuple: PartitionTuple): PartitionFilter =
    if (bound == AlwaysTrue) everything
    else if ((tuple eq lastTuple) && (last ne everything)) last
    else {
      lastTuple = tuple
      last = cached.computeIfAbsent(tuple, t => filter.forPartition(t))
      last
    }
}
