package iceberglite.maintenance.expire

import iceberglite.spec.metadata.TableMetadata

/** Finds the snapshots that running queries read. */
trait RunningReads {

  /** For each running query that reads the table, returns the ids of the snapshots that the query reads. */
  def of(table: TableMetadata): Vector[Set[Long]]
}

object RunningReads {

  /** An implementation that finds no running queries, for environments in which they are unknown. */
  val Unknown: RunningReads = _ => Vector.empty
}

/**
 * Counts of the running queries that read snapshots that are about to expire.
 *
 * @param queries the number of these queries
 * @param snapshotsRead the number of expiring snapshots that these queries read
 * @param snapshotsExpired the number of all snapshots that expire
 */
final case class ExpiredReads(queries: Int, snapshotsRead: Int, snapshotsExpired: Int) {

  /** Returns the warning for the user; absent if there is no such query. */
  def warning: Option[String] = Some(this).filter(_.queries > 0).map { _ =>
    val readers = if (queries == 1) "1 running query reads" else s"$queries running queries read"
    s"$readers $snapshotsRead of the $snapshotsExpired snapshots that expire; a query fails when it opens a file " +
      "that was deleted"
  }
}

object ExpiredReads {
  val None: ExpiredReads = ExpiredReads(0, 0, 0)

  def of(expiredIds: Set[Long], reads: Vector[Set[Long]]): ExpiredReads = {
    val affected = reads.map(_ & expiredIds).filter(_.nonEmpty)
    ExpiredReads(affected.size, affected.flatten.distinct.size, expiredIds.size)
  }
}
