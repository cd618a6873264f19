package iceberglite.maintenance

import iceberglite.io.FileIO
import iceberglite.spec.IcebergError.ValidationFailed
import iceberglite.spec.TableProperty
import iceberglite.table.{
  Cleanup,
  DeletionReport,
  OwnedDeletion,
  OwnedPaths,
  ReachableFiles,
  TableOwnership,
  TableVersion
}
import iceberglite.tree.{InParallel, MetadataTree}

/**
 * Deletes the files that a table's metadata reaches: DROP TABLE ... PURGE. Those that the table does not own are kept,
 * see [[OwnedPaths]].
 */
object PurgeTable {

  /**
   * A file that cannot be deleted, or a manifest that cannot be read, does not keep the rest.
   *
   * @param table the table's name, for messages
   * @param ownership what the catalog knew of the table's directories before it dropped the table
   * @return what was deleted and what was kept; the latter is logged too
   */
  def apply(io: FileIO, table: String, version: TableVersion, ownership: TableOwnership): DeletionReport = {
    refuseWithoutGc(table, version)
    val metadata = version.metadata
    val deletion = new OwnedDeletion(io, OwnedPaths.of(io, version, ownership))
    val tree = MetadataTree.of(io, metadata)
    val manifests = metadata.snapshots.flatMap { snapshot =>
      orNothing(s"list the manifests of snapshot ${snapshot.snapshotId}")(tree.manifests(snapshot))
    }.groupBy(_.path).values.map(_.head).toVector
    val ofManifests = InParallel.map(manifests) { manifest =>
      val files = orNothing(s"read ${manifest.path}")(tree.entries(manifest).map(_.file.path).toVector)
      deletion(files.distinct :+ manifest.path)
    }
    val report = (ofManifests :+ deletion(ReachableFiles.besides(version).distinct)).reduce(_ ++ _)
    report.warn(s"Purging $table")
    report
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
