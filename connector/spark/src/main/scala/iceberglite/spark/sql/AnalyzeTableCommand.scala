package iceberglite.spark.sql

import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.analysis.ResolvedTable
import org.apache.spark.sql.catalyst.plans.logical.{AnalyzeColumn, AnalyzeTable, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.UnaryLike

import iceberglite.maintenance.ComputeTableStatistics
import iceberglite.spark.error.SparkErrors
import iceberglite.spark.maintenance.TableStatistics
import iceberglite.spark.procedure.ProcedureContext
import iceberglite.spark.table.SparkTable
import iceberglite.spec.IcebergError.Unsupported
import iceberglite.table.SnapshotTarget

/**
 * `ANALYZE TABLE t COMPUTE STATISTICS [FOR COLUMNS a, b | FOR ALL COLUMNS | NOSCAN]` on an iceberg-lite table: computes
 * statistics of columns, like the procedure `compute_table_stats`.
 *
 * @param columns names of columns; empty for all top-level columns with primitive types
 * @param noScan whether the statement is NOSCAN. Nothing is computed in this case, because the metadata already
 *   contains the numbers of rows and bytes
 */
final case class AnalyzeTableCommand(child: LogicalPlan, columns: Seq[String], noScan: Boolean)
    extends ExistingTableCommand
    with UnaryLike[LogicalPlan] {

  override protected def table: LogicalPlan = child
  override protected def statement: String = "ANALYZE TABLE"

  override protected def run(name: String, branch: SnapshotTarget.Branch, context: ProcedureContext): Seq[Row] = {
    val session = context.session
    val table = context.table(name).current
    // Checks the names of the columns even if nothing is computed.
    ComputeTableStatistics.columns(table.schema, columns, session.sessionState.conf.caseSensitiveAnalysis)
    table.currentSnapshot.filterNot(_ => noScan).foreach { snapshot =>
      val (after, _) = TableStatistics.compute(session, table, snapshot, columns)
      context.refreshCachedPlans(name, table, after)
    }
    Seq.empty
  }

  override protected def withNewChildInternal(newChild: LogicalPlan): AnalyzeTableCommand = copy(child = newChild)
}

/** Replaces Spark's ANALYZE TABLE on iceberg-lite tables. Spark itself supports only tables of its session catalog. */
object AnalyzeTableCommand extends Rule[LogicalPlan] {
  private[sql] val NoPartitions =
    "statistics are computed for the whole table; remove the PARTITION clause, or call compute_partition_stats"

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperators {
    case AnalyzeTable(table @ ResolvedTable(_, _, resolved: SparkTable, _), partition, noScan) =>
      if (partition.nonEmpty)
        throw SparkErrors.of(resolved.name, Unsupported("ANALYZE TABLE of a partition", NoPartitions.capitalize))
      AnalyzeTableCommand(table, Nil, noScan)
    case AnalyzeColumn(table @ ResolvedTable(_, _, _: SparkTable, _), columns, _) =>
      AnalyzeTableCommand(table, columns.getOrElse(Nil), noScan = false)
  }
}
