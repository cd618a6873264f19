package iceberglite.scan

import java.util.IdentityHashMap
import java.util.concurrent.ConcurrentHashMap

import iceberglite.spec.expr.{Evaluate, Expression, Project, Residual}
import iceberglite.spec.expr.Expression.{AlwaysFalse, AlwaysTrue}
import iceberglite.spec.file.{InclusiveMetrics, ManifestContent, ManifestEntry, ManifestEvaluator, PartSummary}
import iceberglite.spec.partition.{PartitionSpec, PartitionTuple}
import iceberglite.spec.schema.Schema
import iceberglite.tree.PartitionSpecs

/** The scan's filter, projected to the files of each spec. */
final private[scan] class SpecFilters(bound: Expression, specs: PartitionSpecs) {
  private val filters = new ConcurrentHashMap[Int, SpecFilter]

  /** @throws IcebergError.InvalidMetadata the table does not have the spec of the part */
  def of(part: PartSummary): SpecFilter =
    filters.computeIfAbsent(part.specId, _ => new SpecFilter(bound, specs.of(part), specs.sources))
}

/** The files of a part that a scan reads; `pruned` counts the other live files of the part. */
final private[scan] case class PlannedPart(tasks: Vector[FileScanTask], pruned: Int, records: Long, bytes: Long)

private[scan] object PlannedPart {
  def all(parts: Vector[PlannedPart]): PlannedPart = PlannedPart(
    parts.flatMap(_.tasks),
    parts.map(_.pruned).sum,
    parts.map(_.records).sum,
    parts.map(_.bytes).sum
  )
}

/** The scan's filter, projected to the files of one spec. Thread-safe. */
final private[scan] class SpecFilter(bound: Expression, spec: PartitionSpec, sources: Schema) {
  private val projected = Project.inclusive(bound, spec, sources)
  private val summaries = new ManifestEvaluator(projected, spec, spec.partitionType(sources))
  private val partitions = Evaluate.tuple(projected, spec)
  private val columns = new InclusiveMetrics(bound)
  private val residuals = new Residual(bound, spec, sources)

  /** The result for a partition: the residual filter, and whether metrics can rule out more files. */
  final private class Verdict(val residual: Expression) {
    val matches: Boolean = residual != AlwaysFalse
    private val metrics: Option[InclusiveMetrics] =
      if (matches && residual != AlwaysTrue) Some(new InclusiveMetrics(residual)) else None

    def mightMatch(e: ManifestEntry): Boolean = matches && metrics.forall(_.mightMatch(e.file))
  }

  private val everything = new Verdict(AlwaysTrue)

  /**
   * Returns whether the part may list matching files, by the partitions of its files and, if the tree has them, by the
   * statistics of all their columns.
   */
  def mightMatch(part: PartSummary): Boolean =
    summaries.mightMatch(part) && (part.content == ManifestContent.Deletes || columns.mightMatch(part))

  /** Selects the files to read. Selecting again from the result gives the same files. */
  def select(entries: Iterator[ManifestEntry], keeps: StatsToKeep): PlannedPart = {
    val verdicts = new Verdicts
    val tasks = Vector.newBuilder[FileScanTask]
    var pruned = 0
    var records, bytes = 0L
    entries.foreach { e =>
      if (e.isLive) {
        val verdict = verdicts.of(e.file.partition)
        if (verdict.mightMatch(e)) {
          tasks += FileScanTask.whole(keeps.of(e.file), e.sequenceNumber.getOrElse(0L), spec, verdict.residual)
          records += e.file.knownRecords
          bytes += e.file.fileSizeInBytes
        } else pruned += 1
      }
    }
    PlannedPart(tasks.result(), pruned, records, bytes)
  }

  /**
   * Returns the live entries of delete files in partitions that may have matching rows. Data of other partitions is not
   * read; an unpartitioned spec rules out nothing. Metrics are not considered here, see [[TableScan]].
   */
  def inPartitions(entries: Iterator[ManifestEntry]): Vector[ManifestEntry] = {
    val verdicts = new Verdicts
    entries.filter(e => e.isLive && verdicts.of(e.file.partition).matches).toVector
  }

  /** Caches results by reference: files of one part and partition share the tuple, and are often adjacent. */
  final private class Verdicts {
    private val known = new IdentityHashMap[PartitionTuple, Verdict]
    private var lastTuple = PartitionTuple.Empty
    private var last = everything

    def of(tuple: PartitionTuple): Verdict =
      if (bound == AlwaysTrue) everything
      else if ((tuple eq lastTuple) && (last ne everything)) last
      else {
        lastTuple = tuple
        last = known.computeIfAbsent(tuple, t => judge(t))
        last
      }
  }

  private def judge(tuple: PartitionTuple): Verdict =
    new Verdict(if (partitions(tuple)) residuals.of(tuple) else AlwaysFalse)
}
