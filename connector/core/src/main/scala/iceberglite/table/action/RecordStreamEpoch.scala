package iceberglite.table.action

import scala.util.Try

import iceberglite.spec.IcebergError.{AlreadyCommitted, ValidationFailed}
import iceberglite.spec.metadata.TableMetadata
import iceberglite.table.{Change, CommitContext, MetadataAction, SnapshotTarget}

/**
 * Records the epoch of a streaming query in the table's properties, in the same commit as the rows of the epoch. If the
 * query did not receive the response to its commit and runs the epoch again, the record shows that the rows have
 * already been committed. The record is that of [[RecordApplicationVersion]], with the query as the application and the
 * epoch as the version, so that it remains when snapshots expire.
 *
 * Apache Iceberg records epochs only in snapshot summaries. These records are also checked, so that a query can
 * continue with the checkpoint of a query of Apache Iceberg. [[summary]] has the same entries, so that Apache Iceberg
 * can continue with the checkpoint of this query.
 *
 * @param queryId the id of the query, which its checkpoint contains
 * @param epoch the id of the micro-batch: 0 for the first micro-batch of the query
 * @param to the target of the rows. Only summaries in the history of its head are checked
 */
final class RecordStreamEpoch(queryId: String, epoch: Long, to: SnapshotTarget = SnapshotTarget.Main)
    extends MetadataAction {
  private val record = new RecordApplicationVersion(queryId, epoch)

  /** The entries for the summary of the snapshot that contains the rows of the epoch. */
  val summary: Map[String, String] =
    Map(RecordStreamEpoch.QueryIdKey -> queryId, RecordStreamEpoch.EpochIdKey -> epoch.toString)

  /**
   * @throws AlreadyCommitted if this epoch is the last that the query has committed
   * @throws ValidationFailed if the query has committed a later epoch. Spark runs only the last epoch of a checkpoint
   *   again, so that the rows of this epoch may be new
   */
  override def changeFor(base: TableMetadata, context: CommitContext): Change = {
    val last = lastEpoch(base)
    last.filter(_ > epoch).foreach(newer => throw older(context.table, newer))
    last.filter(_ == epoch).foreach(same => throw AlreadyCommitted(context.table, queryId, epoch, same))
    record.changeFor(base, context)
  }

  /** Whether the table has this epoch or a later one, so that [[changeFor]] fails. */
  def isIn(metadata: TableMetadata): Boolean = lastEpoch(metadata).exists(_ >= epoch)

  private def lastEpoch(base: TableMetadata): Option[Long] =
    (lastInSummaries(base).toVector ++ record.lastVersion(base)).sorted.lastOption

  private def older(table: String, last: Long): ValidationFailed = ValidationFailed(
    s"Cannot write epoch $epoch of query $queryId to $table: the table already has epoch $last, so the checkpoint is " +
      "older than the table. Use a new checkpoint location"
  )

  /** Returns the epoch in the query's newest snapshot in the history of the target. Epochs increase. */
  private def lastInSummaries(base: TableMetadata): Option[Long] = for {
    head <- to.head(base)
    snapshot <- base.ancestors(head).find(_.summary.get(RecordStreamEpoch.QueryIdKey).contains(queryId))
    text <- snapshot.summary.get(RecordStreamEpoch.EpochIdKey)
    lastEpoch <- Try(text.toLong).toOption
  } yield lastEpoch
}

object RecordStreamEpoch {

  /** The summary key of the id of the streaming query, as in Apache Iceberg. */
  val QueryIdKey = "spark.sql.streaming.queryId"

  /** The summary key of the id of the micro-batch, as in Apache Iceberg. */
  val EpochIdKey = "spark.sql.streaming.epochId"
}
