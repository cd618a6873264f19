package iceberglite.bench.version4

import iceberglite.bench.Timing
import iceberglite.scan.{ScanPlan, StatsToKeep, TableScan}
import iceberglite.spec.expr.Expression
import iceberglite.spec.expr.Expression.{AlwaysTrue, And, Equal, GreaterThanOrEqual, LessThan}
import iceberglite.spec.expr.Term.Named
import iceberglite.spec.types.Literal.{IntLiteral, LongLiteral}
import iceberglite.table.Table
import iceberglite.tree.ManifestCache

/** A kind of scan. @param filter returns the filter of the scan for a table */
final case class PlanKind(name: String, filter: BenchTable => Expression)

object PlanKind {
  val Full: PlanKind = PlanKind("full", _ => AlwaysTrue)

  /** Selects one percent of the files, in the middle of the table, by a column that is not a partition column. */
  val Clustered: PlanKind = PlanKind(
    "1 % by a clustered column",
    table => {
      val column = Named(SyntheticFiles.Clustered)
      val from = table.files / 2
      val until = from + math.max(1, table.files / 100)
      And(
        GreaterThanOrEqual(column, LongLiteral(table.data.clusteredFrom(from))),
        LessThan(column, LongLiteral(table.data.clusteredFrom(until)))
      )
    }
  )

  val all: Vector[PlanKind] = Vector(
    Full,
    PlanKind(
      "one partition",
      _ => Equal(Named(SyntheticFiles.Partition), IntLiteral(SyntheticFiles.Partitions / 2))
    ),
    Clustered
  )
}

/**
 * The cost of planning a scan.
 *
 * @param tasks the number of planned files
 * @param manifests the number of manifests that a cold plan reads. The root of version 4 is a manifest, and the
 *   manifest list of versions 2 and 3 is not
 * @param requests the number of read requests of a cold plan, including that of the manifest list or root
 * @param readBytes the bytes that a cold plan reads
 * @param coldMs the wall time in milliseconds of a plan with an empty cache, without latency of the storage
 * @param warmMs the wall time of a plan with the manifests in the cache, if they fit, without latency
 * @param slowMs the wall time of a plan with an empty cache, with latency
 * @param heapBytes the heap that the plan occupies
 */
final case class PlanCost(
    kind: String,
    tasks: Int,
    manifests: Long,
    requests: Long,
    readBytes: Long,
    coldMs: Double,
    warmMs: Double,
    slowMs: Double,
    heapBytes: Long
)

object PlanCost {
  private val Repetitions = 5

  /** The time of a plan in milliseconds above which it is measured only once. */
  private val LongMs = 5000.0
  private val Collections = 3

  /** Measures the planning of a scan. */
  def of(kind: PlanKind, table: BenchTable, latencyMs: Long): PlanCost = {
    val filter = kind.filter(table)
    val first = table.cold(0)
    val (firstMs, _) = Timing.of(plan(table, first, filter))
    val requests = first.requests
    val more = if (firstMs > LongMs) 0 else Repetitions - 1
    val colds = Vector.fill(more)(table.cold(0))
    val coldMs = Timing.median(firstMs +: colds.map(io => Timing.of(plan(table, io, filter))._1))
    val warm = colds.lastOption.getOrElse(first)
    val warmMs = Timing.median(Vector.fill(more + 1)(Timing.of(plan(table, warm, filter))._1))
    val (slowMs, _) = Timing.of(plan(table, table.cold(latencyMs), filter))
    val (heap, tasks) = heapOf(table, filter)
    val top = if (table.version.number >= 4) 0 else 1
    PlanCost(kind.name, tasks, requests.reads - top, requests.reads, requests.readBytes, coldMs, warmMs, slowMs, heap)
  }

  /** Plans a scan of a table with the cache of `io`, to which the plan adds the manifests that it reads. */
  def plan(table: BenchTable, io: MeasuredIO, filter: Expression): ScanPlan =
    scan(table.on(io), filter, ManifestCache.of(io)).plan()

  /** Returns a scan whose plan contains no statistics of columns. */
  def scan(table: Table, filter: Expression, cache: ManifestCache): TableScan = {
    val kept = StatsToKeep.Of(Set.empty)
    TableScan(table.tree(), table.currentSnapshot, filter, caseSensitive = true, cache, kept)
  }

  /** Returns the heap that a plan occupies in bytes, and the number of its files. */
  private def heapOf(table: BenchTable, filter: Expression): (Long, Int) = {
    val io = table.cold(0)
    val before = usedBytes()
    val planned = scan(table.on(io), filter, ManifestCache.Disabled).plan()
    val used = usedBytes() - before
    (math.max(0L, used), planned.tasks.size)
  }

  private def usedBytes(): Long = {
    (0 until Collections).foreach(_ => System.gc())
    val runtime = Runtime.getRuntime
    runtime.totalMemory - runtime.freeMemory
  }
}
