package iceberglite.maintenance.compact

import iceberglite.scan.TableScan
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.spec.file.{ContentFile, ManifestContent}
import iceberglite.table.{SnapshotTarget, Table}
import iceberglite.table.action.{ListedFileKey, RewriteFiles}
import iceberglite.tree.{MetadataPool, MetadataTree}

/**
 * Delete files that apply to no live data file.
 *
 * @param files the delete files; not empty
 * @param removal the action that removes the files
 */
final case class DanglingDeletes(files: Vector[ContentFile], removal: RewriteFiles)

object DanglingDeletes {

  /**
   * Returns the delete files of a branch that apply to no data file; absent if there are none. This method plans a scan
   * of the branch without a filter.
   */
  def of(table: Table, to: SnapshotTarget): Option[DanglingDeletes] = to.head(table.metadata).flatMap { snapshot =>
    val plan = TableScan(table.tree(), Some(snapshot), AlwaysTrue, caseSensitive = true).plan()
    val applied = plan.tasks.iterator.flatMap(_.deletes).map(delete => ListedFileKey.of(delete.file)).toSet
    val tree = MetadataTree.at(snapshot, table.tree())
    val parts = tree.parts.filter(part => part.content == ManifestContent.Deletes && part.hasLiveFiles)
    val files = MetadataPool.map(parts)(tree.entries(_).filter(_.isLive).map(_.file).toVector).flatten
      .filterNot(file => applied(ListedFileKey.of(file)))
    if (files.isEmpty) None
    else Some(DanglingDeletes(files, new RewriteFiles(files, Vector.empty, snapshot.snapshotId, to)))
  }
}
