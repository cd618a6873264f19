package iceberglite.maintenance

import iceberglite.io.FileIO
import iceberglite.spec.IcebergError.ValidationFailed
import iceberglite.spec.TableProperty
import iceberglite.table.{Cleanup, TableVersion}
import iceberglite.tree.{InParallel, MetadataTree}

/** Deletes every file that a table's metadata reaches: DROP TABLE ... PURGE. */
object PurgeTable {

  /**
   * A file that cannot be deleted, or a manifest that cannot be read, does not keep the rest.
   *
   * @param table how messages call the table
   */
  def apply(io: FileIO, table: String, version: TableVersion): Unit = {
    refuseWithoutGc(table, version)
    val metadata = version.metadata
    val tree = MetadataTree.of(io, metadata)
    val lists = metadata.snapshots.flatMap(_.manifestList)
    val manifests = metadata.snapshots.flatMap { snapshot =>
      orNothing(s"list the manifests of snapshot ${snapshot.snapshotId}")(tree.manifests(snapshot))
    }.groupBy(_.path).values.map(_.head).toVector
    InParallel.map(manifests) { manifest =>
      val files = orNothing(s"read ${manifest.path}")(tree.entries(manifest).map(_.file.path).toVector)
      Cleanup.delete(io, files.distinct :+ manifest.path)
    }
    val statistics = metadata.statistics.map(_.statisticsPath) ++ metadata.partitionStatistics.map(_.statisticsPath)
    val earlier = metadata.metadataLog.map(_.metadataFile)
    Cleanup.delete(io, lists ++ statistics ++ earlier :+ version.metadataLocation)
  }

  /** @throws ValidationFailed where the table's files may belong to others too */
  def refuseWithoutGc(table: String, version: TableVersion): Unit =
    if (!TableProperty.of(TableProperty.Gc, version.metadata.properties)) throw ValidationFailed(
      s"Cannot purge table $table: its property ${TableProperty.Gc.key} is false, as other tables may use its files. " +
        "Drop it without PURGE, or set the property to true first"
    )

  private def orNothing[A](what: String)(files: => Vector[A]): Vector[A] = {
    var found = Vector.empty[A]
    Cleanup.quietly(what) { found = files }
    found
  }
}
