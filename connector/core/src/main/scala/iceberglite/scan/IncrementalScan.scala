package iceberglite.scan

import iceberglite.spec.expr.{Bind, Expression}
import iceberglite.spec.metadata.{Operation, Snapshot}
import iceberglite.tree.{ManifestCache, MetadataPool, TreeTable}

/**
 * Plans an incremental read: the rows that appends added in a range of snapshots, including rows that were deleted
 * later. Other commits are skipped, because an overwrite may rewrite rows that existed before.
 *
 * @param table the table, with the schema that the filter's columns refer to
 * @param filter a filter on the table's columns, bound to the table's schema or unbound
 * @param cache cache of decoded manifests
 */
final case class IncrementalScan(
    table: TreeTable,
    range: SnapshotRange,
    filter: Expression,
    caseSensitive: Boolean,
    cache: ManifestCache
) {
  private val appends = range.snapshots.filter(IncrementalScan.isAppend)

  /**
   * Returns the files that may contain matching rows, ordered by commit, oldest first.
   *
   * @throws iceberglite.spec.IcebergError.NotFound if the filter refers to a column that does not exist
   */
  def plan(): ScanPlan = {
    val bound = Bind(filter, table.schema, caseSensitive)
    val files = new SnapshotChanges(table, bound, cache)
    val found = MetadataPool.map(appends) { s =>
      val commit = files.of(s)
      (commit, commit.added)
    }
    val all = PlannedPart.merge(found.map(_._2))
    ScanPlan(all.tasks, bound, IncrementalScan.report(table, range, found.map(_._1), all))
  }
}

object IncrementalScan {
  private def isAppend(s: Snapshot): Boolean = s.operation.contains(Operation.Append.name)

  /** Returns the number of commits in a range that may have changed rows but are not read. */
  def skippedCommits(range: SnapshotRange): Int =
    range.snapshots.count(s => !isAppend(s) && !SnapshotRange.isRewrite(s))

  /** Returns the report of a scan of the changes of commits. `found` contains the files that the scan reads. */
  private[scan] def report(
      table: TreeTable,
      range: SnapshotRange,
      commits: Vector[SnapshotChanges#Commit],
      found: PlannedPart
  ): ScanReport = {
    val skipped = commits.map(_.skippedManifests).sum
    val files = found.tasks.size.toLong
    ScanReport(
      table = table.name,
      snapshotId = range.end.map(_.snapshotId),
      totalManifests = commits.map(_.totalManifests).sum,
      skippedManifests = skipped,
      totalFiles = if (skipped == 0) Some(files + found.pruned) else None,
      prunedFiles = found.pruned.toLong,
      resultFiles = files,
      resultRecords = found.records,
      resultBytes = found.bytes
    )
  }
}
