package iceberglite.maintenance.vacuum

import iceberglite.maintenance.expire.{ExpireResult, FileKind, RunningReads, SnapshotExpiry, UnreachableFiles}
import iceberglite.maintenance.orphan.{OrphanOptions, OrphanRemoval, OrphanSearch}
import iceberglite.table.action.ExpireOptions
import iceberglite.table.{DeletionReport, Environment, Table}

/** The result of a [[Vacuum]]. @param orphans the orphan files that were deleted, and those that were kept */
final case class VacuumResult(expired: ExpireResult, orphans: DeletionReport)

/**
 * Expires the old snapshots of a table, deletes the files that only these snapshots refer to, and then deletes orphan
 * files.
 *
 * @param retainMs the age, in milliseconds, above which snapshots expire; by default the table property
 *   `history.expire.max-snapshot-age-ms`. Orphan files are deleted only if they are older than this age, or than three
 *   days if it is absent. Orphan files younger than 24 hours are never deleted, because they may belong to a commit in
 *   progress
 * @param files finds the files of expired snapshots
 * @param search finds the orphan files
 * @param summary entries of the snapshot summary that describe the compute engine
 * @param reads finds the running queries, for the warning of [[SnapshotExpiry]]
 */
final class Vacuum(
    table: Table,
    retainMs: Option[Long],
    files: UnreachableFiles,
    search: OrphanSearch,
    summary: Map[String, String] = Map.empty,
    environment: Environment = Environment.system,
    reads: RunningReads = RunningReads.Unknown
) {
  private val nowMs = environment.nowMs()
  private val orphanAgeMs = math.max(OrphanOptions.MinAgeMs, retainMs.getOrElse(OrphanOptions.DefaultAgeMs))

  private val expiry =
    new SnapshotExpiry(
      table,
      ExpireOptions(olderThanMs = retainMs.map(nowMs - _)),
      files,
      summary,
      environment,
      reads = reads
    )

  private def removal(of: Table): OrphanRemoval =
    new OrphanRemoval(of, OrphanRemoval.directory(None), search, OrphanOptions(nowMs - orphanAgeMs))

  /**
   * Removes the snapshots and files.
   *
   * @return the table without the snapshots, and the result
   * @throws iceberglite.spec.IcebergError.ValidationFailed if `gc.enabled` is false. In this case, nothing was changed
   * @throws iceberglite.spec.IcebergError.InvalidArgument if the table does not own its location. In this case, nothing
   *   was changed
   */
  def run(): (Table, VacuumResult) = {
    // Fails before snapshots expire, if orphan files of this table cannot be removed.
    OrphanRemoval.directory(None)(table.refresh())
    val (newest, expired) = expiry.run()
    (newest, VacuumResult(expired, removal(newest).run(_ => ())))
  }

  /**
   * Returns the result that [[run]] would have, without changing anything.
   *
   * @param found receives the kind and the path of each file that would be deleted
   */
  def dryRun(found: (FileKind, String) => Unit): VacuumResult = {
    OrphanRemoval.directory(None)(table.refresh())
    val expired = expiry.dryRun(found)
    VacuumResult(
      expired,
      removal(table).dryRun(file => if (file.kept.isEmpty) found(FileKind.OrphanFile, file.path))
    )
  }
}
