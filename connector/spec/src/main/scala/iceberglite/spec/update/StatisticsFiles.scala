package iceberglite.spec.update

import iceberglite.spec.metadata.{PartitionStatisticsFile, StatisticsFile, TableMetadata}

/** Updates of the statistics files of a table. A snapshot has at most one statistics file of each kind. */
private[update] object StatisticsFiles {

  def set(m: TableMetadata, file: StatisticsFile): TableMetadata =
    m.copy(statistics = remove(m, file.snapshotId).statistics :+ file)

  def remove(m: TableMetadata, snapshotId: Long): TableMetadata =
    m.copy(statistics = m.statistics.filterNot(_.snapshotId == snapshotId))

  def setPartition(m: TableMetadata, file: PartitionStatisticsFile): TableMetadata =
    m.copy(partitionStatistics = removePartition(m, file.snapshotId).partitionStatistics :+ file)

  def removePartition(m: TableMetadata, snapshotId: Long): TableMetadata =
    m.copy(partitionStatistics = m.partitionStatistics.filterNot(_.snapshotId == snapshotId))
}
