package iceberglite.maintenance

import iceberglite.spec.IcebergError
import iceberglite.spec.IcebergError.CommitStateUnknown
import iceberglite.spec.metadata.PartitionStatisticsFile
import iceberglite.table.{Cleanup, Environment, Table}
import iceberglite.table.action.SetPartitionStatistics

/** Computes the partition statistics of a snapshot, and registers them in the table's metadata. */
object ComputePartitionStatistics {

  /**
   * @param snapshotId the snapshot whose statistics are computed; by default the current snapshot
   * @param summary entries of the snapshot summary that describe the compute engine
   * @return the table with the statistics, and the statistics file; absent if there is no snapshot, or if no manifest
   *   of the snapshot has entries
   * @throws iceberglite.spec.IcebergError.NotFound if the table has no snapshot with this id
   * @throws iceberglite.spec.IcebergError.ValidationFailed if no partition spec of the table has a partition field
   */
  def apply(
      table: Table,
      snapshotId: Option[Long],
      summary: Map[String, String] = Map.empty,
      environment: Environment = Environment.system
  ): Option[(Table, PartitionStatisticsFile)] = {
    val snapshot = snapshotId.map(table.metadata.snapshot).orElse(table.currentSnapshot)
    snapshot.flatMap(PartitionStatisticsFiles.write(table.io, table.metadata, _, environment.uuid())).map { file =>
      try {
        (table.transaction(summary, environment).add(new SetPartitionStatistics(file)).commit(), file)
      } catch {
        case unknown: CommitStateUnknown => throw unknown
        case failed: IcebergError =>
          Cleanup.delete(table.io, Vector(file.statisticsPath))
          throw failed
      }
    }
  }
}
