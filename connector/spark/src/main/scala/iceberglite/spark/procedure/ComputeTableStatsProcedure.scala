package iceberglite.spark.procedure

import org.apache.spark.sql.Row
import org.apache.spark.sql.types.{StringType, StructType}

import iceberglite.spark.maintenance.TableStatistics

/** `CALL catalog.system.compute_table_stats(table, snapshot_id, columns)` */
object ComputeTableStatsProcedure extends Procedure {
  private val snapshotId =
    Parameter.optional("snapshot_id", ParameterType.Id, "Id of the snapshot; by default the current one")
  private val columns = Parameter.optional(
    "columns",
    ParameterType.Texts,
    "Names of the columns; by default all top-level columns with primitive types"
  )

  override val name = "compute_table_stats"
  override val description =
    "Compute the approximate numbers of distinct values of columns, and register their file in the table"
  override val parameters: Seq[Parameter[_]] = Seq(Parameter.table, snapshotId, columns)

  override val output: StructType = StructType(Seq(
    Procedure.column(
      "statistics_file",
      StringType,
      "Path of the statistics file; for a table without snapshots, the result has no row"
    )
  ))

  override val manyRows = true

  override def call(arguments: Arguments, context: ProcedureContext): Seq[Row] = {
    val name = arguments(Parameter.table)
    val table = context.table(name).current
    val snapshot = arguments.get(snapshotId).map(table.metadata.snapshot).orElse(table.currentSnapshot)
    snapshot.toSeq.map { s =>
      val (after, file) =
        TableStatistics.compute(context.session, table, s, arguments.get(columns).getOrElse(Nil))
      context.refreshCachedPlans(name, table, after)
      Row(file.statisticsPath)
    }
  }
}
