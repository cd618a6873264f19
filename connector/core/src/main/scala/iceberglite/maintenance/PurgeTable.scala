package iceberglite.maintenance

import org.slf4j.LoggerFactory

import iceberglite.io.FileIO
import iceberglite.spec.IcebergError.ValidationFailed
import iceberglite.spec.TableProperty
import iceberglite.table.{Cleanup, OwnFiles, TableVersion}
import iceberglite.tree.{InParallel, MetadataTree}

/**
 * Deletes the files that a table's metadata reaches: DROP TABLE ... PURGE. Those outside of the table's own directories
 * are left alone, see [[OwnFiles]].
 */
object PurgeTable {
  private val log = LoggerFactory.getLogger("iceberglite.maintenance.PurgeTable")

  /**
   * A file that cannot be deleted, or a manifest that cannot be read, does not keep the rest.
   *
   * @param table how messages call the table
   */
  def apply(io: FileIO, table: String, version: TableVersion): Unit = {
    refuseWithoutGc(table, version)
    val metadata = version.metadata
    val own = OwnFiles.of(metadata)
    val tree = MetadataTree.of(io, metadata)
    val lists = metadata.snapshots.flatMap(_.manifestList)
    val manifests = metadata.snapshots.flatMap { snapshot =>
      orNothing(s"list the manifests of snapshot ${snapshot.snapshotId}")(tree.manifests(snapshot))
    }.groupBy(_.path).values.map(_.head).toVector
    InParallel.map(manifests) { manifest =>
      val files = orNothing(s"read ${manifest.path}")(tree.entries(manifest).map(_.file.path).toVector)
      delete(io, table, own, files.distinct :+ manifest.path)
    }
    val statistics = metadata.statistics.map(_.statisticsPath) ++ metadata.partitionStatistics.map(_.statisticsPath)
    val earlier = metadata.metadataLog.map(_.metadataFile)
    delete(io, table, own, lists ++ statistics ++ earlier :+ version.metadataLocation)
  }

  private def delete(io: FileIO, table: String, own: OwnFiles, paths: Vector[String]): Unit = {
    val (inside, outside) = paths.partition(own.has)
    outside.headOption.foreach { path =>
      log.warn(s"Purging $table leaves ${outside.size} files outside of its directories, such as $path")
    }
    Cleanup.delete(io, inside)
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
