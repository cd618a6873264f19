package iceberglite.spark.maintenance

import scala.util.Try

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.execution.{QueryExecution, SQLExecution}
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2ScanRelation

import iceberglite.maintenance.expire.RunningReads
import iceberglite.spark.read.IcebergScan
import iceberglite.spec.metadata.TableMetadata

/**
 * Finds the snapshots that the running queries of this Spark application read, in Spark's own list of executions.
 * Nothing is registered for a query, so that queries cost nothing and nothing is left behind.
 *
 * Spark ends the execution of `toLocalIterator` when it returns the iterator, and does not report which plans of cached
 * data are running; such reads are not found.
 */
final private[iceberglite] class SessionRunningReads(session: SparkSession) extends RunningReads {

  override def of(table: TableMetadata): Vector[Set[Long]] = {
    val running = session.sharedState.statusStore.executionsList().filter(_.completionTime.isEmpty)
    // A statement can consist of several executions, such as a MERGE. They have the same root.
    val reads = running.groupBy(_.rootExecutionId).values.map { executions =>
      executions.flatMap(e => Option(SQLExecution.getQueryExecution(e.executionId))).flatMap(snapshots(_, table)).toSet
    }
    reads.filter(_.nonEmpty).toVector
  }

  /** Returns the snapshots of the table that a query reads. A query whose plan is invalid is about to fail. */
  private def snapshots(query: QueryExecution, table: TableMetadata): Seq[Long] =
    Try(query.optimizedPlan).toOption.toSeq.flatMap(_.collectWithSubqueries {
      case DataSourceV2ScanRelation(_, scan: IcebergScan, _, _, _) if isSame(scan.files.table.metadata, table) =>
        scan.files.snapshot.map(_.snapshotId)
    }.flatten)

  private def isSame(a: TableMetadata, b: TableMetadata): Boolean =
    a.uuid == b.uuid && (a.uuid.isDefined || a.location == b.location)
}
