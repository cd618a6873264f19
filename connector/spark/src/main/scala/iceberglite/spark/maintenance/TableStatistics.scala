package iceberglite.spark.maintenance

import org.apache.spark.sql.SparkSession

import iceberglite.maintenance.ComputeTableStatistics
import iceberglite.spark.conf.{EngineSummary, TimeTravel}
import iceberglite.spec.metadata.{Snapshot, StatisticsFile}
import iceberglite.table.Table

/** Computes and registers statistics of the columns of a table, with a Spark job. */
private[iceberglite] object TableStatistics {

  /**
   * Computes the approximate number of distinct values of each column, writes these numbers to a statistics file, and
   * registers the file in the table's metadata.
   *
   * @param columns names of columns; empty for all top-level columns with primitive types
   * @return the table with the statistics, and the statistics file
   * @throws iceberglite.spec.IcebergError.NotFound if the schema of the snapshot has no such column
   * @throws iceberglite.spec.IcebergError.InvalidArgument if the type of a column is not primitive
   */
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
    ComputeTableStatistics.register(table, snapshot, chosen.map(_.id).zip(sketches), EngineSummary.of(session))
  }
}
