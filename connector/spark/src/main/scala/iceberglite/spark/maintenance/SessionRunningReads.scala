package iceberglite.spark.maintenance

import scala.util.Try

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.execution.{QueryExecution, SQLExecution}
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2ScanRelation

import iceberglite.maintenance.expire.RunningReads
import iceberglite.spark.read.SnapshotRead
import iceberglite.spec.metadata.TableMetadata

/**
 * Finds the snapshots that the running queries of this Spark application read. It uses Spark's own list of executions.
 * Therefore, queries need not register their reads.
 *
 * Two kinds of reads are not found: reads of `toLocalIterator`, because Spark ends the execution when it returns the
 * iterator, and reads that fill a cache, because Spark does not report which plans of cached data are running. A query
 * that was answered from metadata during planning opens no file, so it is not counted.
 */
final private[iceberglite] class SessionRunningReads(session: SparkSession) extends RunningReads {

  override def of(table: TableMetadata): Vector[Set[Long]] = {
    val running = session.sharedState.statusStore.executionsList().filter(_.completionTime.isEmpty)
    // A statement such as a MERGE can consist of several executions. They have the same root execution.
    val reads = running.groupBy(_.rootExecutionId).values.map { executions =>
      executions.flatMap(e => Option(SQLExecution.getQueryExecution(e.executionId))).flatMap(snapshots(_, table)).toSet
    }
    reads.filter(_.nonEmpty).toVector
  }

  /**
   * Returns the snapshots of the table that a query reads. A query with an invalid plan reads nothing, because it
   * fails.
   */
  private def snapshots(query: QueryExecution, table: TableMetadata): Seq[Long] =
    Try(query.optimizedPlan).toOption.toSeq.flatMap(_.collectWithSubqueries {
      case DataSourceV2ScanRelation(_, scan: SnapshotRead, _, _, _) if isSame(scan.scanFiles.table.metadata, table) =>
        scan.scanFiles.snapshot.map(_.snapshotId)
    }.flatten)

  private def isSame(a: TableMetadata, b: TableMetadata): Boolean =
    a.uuid == b.uuid && (a.uuid.isDefined || a.location == b.location)
}
