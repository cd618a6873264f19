package iceberglite.spark.procedure

import org.apache.spark.sql.Row
import org.apache.spark.sql.types.{StringType, StructType}

import iceberglite.maintenance.ComputePartitionStatistics
import iceberglite.spark.cluster.ClusterJob
import iceberglite.spark.conf.EngineSummary

/** `CALL catalog.system.compute_partition_stats(table, snapshot_id, branch)` */
object ComputePartitionStatsProcedure extends Procedure {
  override val name = "compute_partition_stats"
  override val description = "Compute the partition statistics of a snapshot and register their file in the table"
  override val parameters: Seq[Parameter[_]] = Seq(Parameter.table, SelectedSnapshot.id, SelectedSnapshot.branch)

  override val output: StructType = StructType(Seq(
    Procedure.column(
      "partition_statistics_file",
      StringType,
      "Path of the statistics file; for a snapshot without files, the result has no row"
    )
  ))

  override val manyRows = true

  override def call(arguments: Arguments, context: ProcedureContext): Seq[Row] = {
    val name = arguments(Parameter.table)
    val before = context.table(name).current
    val description = s"Computing partition statistics of ${before.name}"
    val snapshot = SelectedSnapshot.of(arguments, before.metadata)
    val computed = ClusterJob.withDriverWork(context.session.sparkContext, description) {
      snapshot.flatMap(s =>
        ComputePartitionStatistics(before, Some(s.snapshotId), EngineSummary.of(context.session))
      )
    }
    computed.toSeq.map { case (after, file) =>
      context.refreshCachedPlans(name, before, after)
      Row(file.statisticsPath)
    }
  }
}
