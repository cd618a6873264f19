package iceberglite.spark

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.catalog.{StagedTable => SparkStagedTable}

import iceberglite.spark.write.EngineSummary
import iceberglite.table.StagedTable

/**
 * A table that CREATE or REPLACE ... AS SELECT is making: what the query writes is kept back until Spark says that all
 * went well.
 *
 * @param onCommit what the catalog does once the table is there
 */
final class StagedSparkTable(staged: StagedTable, onCommit: () => Unit)
    extends SparkTable(() => staged.table, TimeTravel.Latest)
    with SparkStagedTable {

  override def commitStagedChanges(): Unit = SparkErrors.in(name) {
    OwnCommits.announce(staged.commit(EngineSummary.of(SparkSession.active)), None)
    onCommit()
  }

  override def abortStagedChanges(): Unit = SparkErrors.in(name)(staged.abort())
}
