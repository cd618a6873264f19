package iceberglite.maintenance.expire

import org.slf4j.LoggerFactory

import iceberglite.encryption.TableKeys
import iceberglite.maintenance.ConcurrentExpiration
import iceberglite.spec.IcebergError.UnreadableFile
import iceberglite.spec.metadata.TableMetadata
import iceberglite.table.{CommitContext, DeletionReport, Environment, OwnedDeletion, OwnedPaths, Table}
import iceberglite.table.action.{ExpireOptions, ExpireSnapshots}
import iceberglite.tree.MetadataPool

/**
 * Expires snapshots of a table, and deletes the files that only the expired snapshots referred to.
 *
 * One commit removes the snapshots from the metadata. Then the files are deleted, except those that the table does not
 * own (see [[OwnedPaths]]). If the process ends before all files are deleted, the remaining files are orphan files.
 *
 * @param table the table; the expiration starts from its newest version
 * @param files finds the data and delete files to delete
 * @param summary entries of the snapshot summary that describe the compute engine
 * @param maxConcurrentDeletes the maximum number of requests that delete files at the same time
 * @param reads finds the running queries, which are counted for a warning
 */
final class SnapshotExpiry(
    table: Table,
    options: ExpireOptions,
    files: UnreachableFiles,
    summary: Map[String, String] = Map.empty,
    environment: Environment = Environment.system,
    maxConcurrentDeletes: Int = MetadataPool.Width,
    reads: RunningReads = RunningReads.Unknown
) {
  import SnapshotExpiry._

  /**
   * Expires the snapshots. A file that cannot be deleted is reported. It does not prevent the deletion of the other
   * files.
   *
   * @return the table without the snapshots, and the result
   * @throws iceberglite.spec.IcebergError if the table is encrypted, and the keys of its snapshots are not available.
   *   In this case, nothing is changed
   * @throws iceberglite.spec.IcebergError.UnreadableFile if a file of the metadata trees cannot be read. The snapshots
   *   have already expired in this case, and some files that could be deleted are now orphan files
   */
  def run(): (Table, ExpireResult) = {
    val action = new ExpireSnapshots(options)
    val current = table.refresh()
    TableKeys.of(current.name, current.metadata, current.io.keyService).foreach(_.requireKeys())
    val expired = ExpireSnapshots.expired(options, current.metadata, current.name, environment.nowMs()).snapshotIds
    val ofExpired = readsOf(expired, current.metadata)
    val committed = current.transaction(summary, environment).add(action).commit()
    val (before, after) = action.versions
    val result = afterCommit(deleteFiles(before, after, committed)).copy(reads = ofExpired)
    DeletionReport(0, result.kept).warn(s"Expiring snapshots of ${table.name}")
    (committed, result)
  }

  private def afterCommit[A](body: => A): A =
    try body
    catch {
      case e: UnreadableFile => throw e.copy(reason =
          s"${e.reason.stripSuffix(".")}. The snapshots have expired, but not all files were found that only they " +
            "referred to. remove_orphan_files deletes these files"
        )
    }

  /**
   * Returns the result that [[run]] would have, without changing anything.
   *
   * @param found receives the kind and the path of each file that would be deleted
   */
  def dryRun(found: (FileKind, String) => Unit = (_, _) => ()): ExpireResult = {
    val current = table.refresh()
    val action = new ExpireSnapshots(options)
    action.changeFor(current.metadata, CommitContext(current.io, current.name, "", summary, environment))
    val (before, after) = action.versions
    val owned = ownedPaths(current)
    result(
      before,
      after,
      ExpiredTrees.of(table.name, current.io, before, removedIds(before, after), current.version.copy(metadata = after))
    ) { (kind, paths) =>
      val (deletable, kept) = owned.reasonsToKeep(paths).partition(_._2.isEmpty)
      deletable.foreach { case (path, _) => found(kind, path) }
      DeletionReport.ofAll(deletable ++ kept)
    }.copy(reads = readsOf(removedIds(before, after), before))
  }

  /** Counts the running queries that read the snapshots to expire, and logs a warning if there are any. */
  private def readsOf(expiredIds: Set[Long], metadata: TableMetadata): ExpiredReads =
    if (expiredIds.isEmpty) ExpiredReads.None
    else {
      val found = ExpiredReads.of(expiredIds, reads.of(metadata))
      found.warning.foreach(text => log.warn(s"Expiring snapshots of ${table.name}: $text"))
      found
    }

  private def ownedPaths(of: Table): OwnedPaths =
    OwnedPaths.of(of.io, of.version, of.committer.ownership(of.id, of.version))

  private def deleteFiles(before: TableMetadata, after: TableMetadata, committed: Table): ExpireResult =
    if (removesNoFiles(before, after))
      ExpireResult(Set.empty, removedRefs(before, after), FileCounts(), Vector.empty)
    else {
      val deletion = new OwnedDeletion(committed.io, ownedPaths(committed), maxConcurrentDeletes, environment)
      result(before, after, expiredTrees(before, removedIds(before, after), committed))((_, paths) =>
        deletion(paths)
      )
    }

  /**
   * Compares the expired trees with the newest version of the table, because a commit after the expiration can refer to
   * an old file again. If a concurrent expiration deletes the metadata files of this version, the comparison starts
   * again.
   */
  private def expiredTrees(before: TableMetadata, removedIds: Set[Long], committed: Table): ExpiredTrees =
    ConcurrentExpiration.retry(committed.refresh()) { newest =>
      ExpiredTrees.of(table.name, committed.io, before, removedIds, newest.version)
    }

  /** Deletes the files and returns the result. @param delete deletes paths, or only counts them for a dry run */
  private def result(before: TableMetadata, after: TableMetadata, trees: ExpiredTrees)(
      delete: (FileKind, Vector[String]) => DeletionReport
  ): ExpireResult = {
    val keyOf = UnreachableFiles.keys(table.io)
    // The manifests are deleted after the files that they list, so that files that remain after a failed run are found.
    val ofContent =
      files.find(table.io, trees.expired, trees.retained).filterNot(file => trees.needed(keyOf(file.path)))
        .grouped(BatchFiles)
        .foldLeft((FileCounts(), DeletionReport.Empty)) { case (sums, batch) =>
          batch.toVector.groupBy(_.content).foldLeft(sums) { case ((counts, reports), (content, same)) =>
            val report = delete(FileKind.of(content), same.map(_.path))
            (counts.add(content, report.deleted), reports ++ report)
          }
        }
    val manifests = delete(FileKind.Manifest, trees.manifests)
    val roots = delete(FileKind.ManifestList, trees.roots)
    val statistics = delete(FileKind.StatisticsFile, trees.statistics)
    val (contentCounts, contentReport) = ofContent
    ExpireResult(
      removedIds(before, after),
      removedRefs(before, after),
      contentCounts.copy(
        manifests = manifests.deleted,
        manifestLists = roots.deleted,
        statisticsFiles = statistics.deleted
      ),
      (contentReport ++ manifests ++ roots ++ statistics).kept
    )
  }
}

object SnapshotExpiry {

  /** The number of files in a batch, which are deleted together. */
  private val BatchFiles = 10000

  private val log = LoggerFactory.getLogger(classOf[SnapshotExpiry])

  private def removesNoFiles(before: TableMetadata, after: TableMetadata): Boolean =
    removedIds(before, after).isEmpty && before.statistics.size == after.statistics.size &&
      before.partitionStatistics.size == after.partitionStatistics.size

  private def removedIds(before: TableMetadata, after: TableMetadata): Set[Long] =
    before.snapshots.map(_.snapshotId).toSet -- after.snapshots.map(_.snapshotId)

  private def removedRefs(before: TableMetadata, after: TableMetadata): Set[String] =
    before.refs.keySet -- after.refs.keySet
}
