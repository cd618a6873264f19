package iceberglite.spark.table

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.catalog.{StagedTable => SparkStagedTable}
import org.slf4j.LoggerFactory

import iceberglite.spark.conf.{EngineSummary, TimeTravel}
import iceberglite.spark.session.CommitListeners
import iceberglite.spec.IcebergError.AlreadyCommitted
import iceberglite.table.StagedTable

/**
 * A table that `CREATE TABLE ... AS SELECT`, `REPLACE TABLE` or `REPLACE TABLE ... AS SELECT` creates. The table and
 * its files are committed only after the query, if there is one, has succeeded.
 *
 * @param onCommit called after the table is committed
 */
final class StagedSparkTable(staged: StagedTable, onCommit: () => Unit)
    extends SparkTable(() => staged.table, TimeTravel.Latest)
    with SparkStagedTable {

  /**
   * Commits the table. If an application repeats a write (the options `application-id` and `application-version`) that
   * the existing table already contains, the table is not changed.
   */
  override def commitStagedChanges(): Unit = in {
    try {
      CommitListeners.announce(staged.commit(EngineSummary.of(SparkSession.active)), None)
      onCommit()
    } catch {
      case done: AlreadyCommitted =>
        StagedSparkTable.log.warn(done.getMessage)
        staged.abort()
    }
  }

  override def abortStagedChanges(): Unit = in(staged.abort())
}

private[iceberglite] object StagedSparkTable {
  private val log = LoggerFactory.getLogger("iceberglite.spark.table.StagedSparkTable")
}
