package iceberglite.maintenance.compact

import iceberglite.scan.TableScan
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.spec.file.{ContentFile, ManifestContent}
import iceberglite.table.{SnapshotTarget, Table}
import iceberglite.table.action.FileKey
import iceberglite.tree.{MetadataPool, MetadataTree}

/** Delete files that apply to no live data file. */
object DanglingDeletes {

  /** Returns the delete files of a branch that apply to no data file. It plans a scan of the whole branch. */
  def of(table: Table, to: SnapshotTarget): Vector[ContentFile] = to.head(table.metadata).toVector.flatMap { snapshot =>
    val plan = TableScan(table.tree(), Some(snapshot), AlwaysTrue, caseSensitive = true).plan()
    val applied = plan.tasks.iterator.flatMap(_.deletes).map(delete => FileKey.of(delete.file)).toSet
    val tree = MetadataTree.at(snapshot, table.tree())
    val parts = tree.parts.filter(part => part.content == ManifestContent.Deletes && part.hasLiveFiles)
    MetadataPool.map(parts)(tree.entries(_).filter(_.isLive).map(_.file).toVector).flatten
      .filterNot(file => applied(FileKey.of(file)))
  }
}
