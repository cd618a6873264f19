package iceberglite.spark.maintenance

import org.apache.spark.sql.SparkSession

import iceberglite.maintenance.{ComputeBloomIndex, ComputeTableStatistics}
import iceberglite.puffin.NewBlob
import iceberglite.scan.BloomIndex
import iceberglite.spark.conf.{EngineSummary, TimeTravel}
import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.metadata.{Snapshot, StatisticsFile}
import iceberglite.table.Table

/** Computes and registers statistics of the columns of a table, with a Spark job. */
private[iceberglite] object TableStatistics {

  /**
   * Computes the approximate number of distinct values of each column, and the Bloom index if the table has one. Writes
   * the results to a statistics file, and registers the file in the table's metadata.
   *
   * @param columns names of columns; empty for all top-level columns with primitive types
   * @param bloomIndexOnly whether to write only the Bloom index, see [[computeBloomIndex]]
   * @return the table with the statistics, and the statistics file
   * @throws iceberglite.spec.IcebergError.NotFound if the schema of the snapshot has no such column
   * @throws InvalidArgument if the type of a column is not primitive, or if there are columns although only the Bloom
   *   index is written
   */
  def compute(
      session: SparkSession,
      table: Table,
      snapshot: Snapshot,
      columns: Seq[String],
      bloomIndexOnly: Boolean
  ): (Table, StatisticsFile) =
    if (bloomIndexOnly && columns.nonEmpty) throw InvalidArgument(
      "argument columns",
      columns.mkString(", "),
      "With bloom_index_only, no numbers of distinct values are computed; omit one of the two arguments"
    )
    else if (bloomIndexOnly) computeBloomIndex(session, table, snapshot)
    else compute(session, table, snapshot, columns)

  /** Computes the numbers of distinct values and the Bloom index. */
  def compute(
      session: SparkSession,
      table: Table,
      snapshot: Snapshot,
      columns: Seq[String]
  ): (Table, StatisticsFile) = {
    val schema = TimeTravel.AtSnapshot(snapshot.snapshotId).schema(table.metadata)
    val chosen =
      ComputeTableStatistics.columns(schema, columns, session.sessionState.conf.caseSensitiveAnalysis)
    val sketches = ColumnSketches.of(session, table, snapshot, chosen)
    val index = ComputeBloomIndex(table, snapshot, new BloomFilterJob(session, table.name))
    val summary = EngineSummary.of(session)
    ComputeTableStatistics.register(table, snapshot, chosen.map(_.id).zip(sketches), summary, others = index)
  }

  /**
   * Writes a statistics file with the Bloom index of a snapshot. Only data files that have no filters yet are read. The
   * numbers of distinct values are copied from the earlier statistics file.
   *
   * @throws InvalidArgument if the table has no columns with a Bloom index
   */
  def computeBloomIndex(session: SparkSession, table: Table, snapshot: Snapshot): (Table, StatisticsFile) = {
    if (BloomIndex.columns(table.metadata).isEmpty) throw InvalidArgument(
      "Bloom index",
      table.name,
      "No column of the table is indexed. Choose the columns first: ALTER TABLE ... SET BLOOM INDEX (column, ...)"
    )
    // Blobs that cannot be copied are reported before the index is computed.
    ComputeTableStatistics.existingBlobs(table, snapshot)
    registerIndex(session, table, snapshot, ComputeBloomIndex(table, snapshot, new BloomFilterJob(session, table.name)))
  }

  /**
   * Adds the filters of new files to the Bloom index. The numbers of distinct values are copied from the earlier
   * statistics file.
   *
   * @param added the paths of the new files
   * @return the table with the statistics, and the statistics file; absent if the table has no index
   */
  def extendBloomIndex(
      session: SparkSession,
      table: Table,
      snapshot: Snapshot,
      added: Set[String]
  ): Option[(Table, StatisticsFile)] = {
    val index = ComputeBloomIndex.extended(table, snapshot, added, new BloomFilterJob(session, table.name))
    if (index.isEmpty) None else Some(registerIndex(session, table, snapshot, index))
  }

  private def registerIndex(
      session: SparkSession,
      table: Table,
      snapshot: Snapshot,
      index: Vector[NewBlob]
  ): (Table, StatisticsFile) = ComputeTableStatistics.register(
    table,
    snapshot,
    Vector.empty,
    EngineSummary.of(session),
    others = index,
    copied = ComputeTableStatistics.existingBlobs(_, snapshot)
  )
}
