package iceberglite.spark.procedure

import org.apache.spark.sql.Row
import org.apache.spark.sql.types.{StringType, StructType}

import iceberglite.spark.maintenance.TableStatistics

/** `CALL catalog.system.compute_table_stats(table, snapshot_id, columns, bloom_index_only, branch)` */
object ComputeTableStatsProcedure extends Procedure {
  private val columns = Parameter.optional(
    "columns",
    ParameterType.Texts,
    "Names of the columns; by default all top-level columns with primitive types"
  )
  private val bloomIndexOnly = Parameter.optional(
    "bloom_index_only",
    ParameterType.Flag,
    "Whether to compute only the Bloom index: only data files that have no Bloom filter yet are read, and the " +
      "existing numbers of distinct values are copied; by default false"
  )

  override val name = "compute_table_stats"
  override val description =
    "Compute approximate numbers of distinct values and the Bloom index, and register their file in the table"
  override val parameters: Seq[Parameter[_]] =
    Seq(Parameter.table, SelectedSnapshot.id, columns, bloomIndexOnly, SelectedSnapshot.branch)

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
    SelectedSnapshot.of(arguments, table.metadata).toSeq.map { s =>
      val names = arguments.get(columns).getOrElse(Nil)
      val onlyIndex = arguments.get(bloomIndexOnly).contains(true)
      val (after, file) = TableStatistics.compute(context.session, table, s, names, onlyIndex)
      context.refreshCachedPlans(name, table, after)
      Row(file.statisticsPath)
    }
  }
}
