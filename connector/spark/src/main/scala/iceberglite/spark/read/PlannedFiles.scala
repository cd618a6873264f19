package iceberglite.spark.read

import java.util.IdentityHashMap

import scala.collection.mutable

import iceberglite.scan.{FileScanTask, ScanPlan, TableScan}
import iceberglite.spark.SparkErrors
import iceberglite.spec.expr.Expression.{AlwaysFalse, AlwaysTrue, And, Not, Or}
import iceberglite.spec.expr.{Bind, Expression, Predicate, Residual, Term}
import iceberglite.spec.{PartitionTuple, Schema, Snapshot}
import iceberglite.table.Table
import iceberglite.tree.PartitionSources

/**
 * The files of one scan, found once: for pushing filters down, for statistics, for EXPLAIN and for reading.
 *
 * @param filter what all the rows that Spark wants satisfy
 */
final private[read] class PlannedFiles(
    val table: Table,
    val snapshot: Option[Snapshot],
    val schema: Schema,
    val filter: Expression,
    caseSensitive: Boolean
) {
  private lazy val planned: (ScanPlan, Long) = SparkErrors.in(table.name) {
    val start = System.nanoTime()
    val plan = TableScan(table, snapshot, schema, filter, caseSensitive).plan()
    isPlanned = true
    (plan, (System.nanoTime() - start) / 1000000L)
  }

  @volatile private var isPlanned = false

  def plan: ScanPlan = planned._1

  def planningMs: Long = planned._2

  /** The plan, if it is there or must be made; absent where the snapshot's summary tells as much. */
  def planUnlessWhole: Option[ScanPlan] = if (isPlanned || filter != AlwaysTrue) Some(plan) else None

  /**
   * Whether a condition that is a part of the filter holds for every row of the planned files by their partitions
   * alone, so that nobody needs to test the rows.
   */
  def isDecidedByPartitions(condition: Expression): Boolean = {
    val bound = Bind(condition, schema, caseSensitive)
    bound == AlwaysTrue || isOnPartitionSources(bound) && holdsFor(bound, plan.tasks)
  }

  private def isOnPartitionSources(bound: Expression): Boolean = {
    val sources = table.metadata.specs.flatMap(_.fields).flatMap(_.sourceIds).toSet
    columns(bound).forall(sources.contains)
  }

  private def columns(e: Expression): Set[Int] = e match {
    case And(l, r) => columns(l) ++ columns(r)
    case Or(l, r) => columns(l) ++ columns(r)
    case Not(child) => columns(child)
    case p: Predicate => PlannedFiles.columnOf(p.term).toSet
    case AlwaysTrue | AlwaysFalse => Set.empty
  }

  private def holdsFor(bound: Expression, tasks: Vector[FileScanTask]): Boolean = {
    val residual = residuals(bound)
    tasks.forall(residual(_) == AlwaysTrue)
  }

  /** The planned files that may have rows for which one more condition holds, one that came with the rows of a join. */
  def tasksWith(condition: Expression): Vector[FileScanTask] =
    if (condition == AlwaysTrue) plan.tasks
    else {
      val residual = residuals(Bind(condition, schema, caseSensitive))
      plan.tasks.filter(residual(_) != AlwaysFalse)
    }

  /** What is left of a condition for the rows of a file; worked out once for the files that share a partition tuple. */
  private def residuals(bound: Expression): FileScanTask => Expression = {
    val sources = PartitionSources.schema(table.metadata, schema)
    val bySpec = mutable.Map.empty[Int, Residual]
    val known = new IdentityHashMap[PartitionTuple, Expression]
    task => {
      val ofSpec = bySpec.getOrElseUpdate(task.spec.specId, new Residual(bound, task.spec, sources))
      known.computeIfAbsent(task.file.partition, partition => ofSpec.of(partition))
    }
  }
}

private[read] object PlannedFiles {

  def columnOf(term: Term): Option[Int] = term match {
    case Term.Bound(field, _) => Some(field.id)
    case Term.Transformed(_, of) => columnOf(of)
    case Term.Named(_) => None
  }
}
