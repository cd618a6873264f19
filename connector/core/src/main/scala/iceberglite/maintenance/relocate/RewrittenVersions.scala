package iceberglite.maintenance.relocate

import iceberglite.spec.IcebergError.{InvalidArgument, ValidationFailed}
import iceberglite.storage.MetadataFiles
import iceberglite.table.{Table, TableVersion}
import iceberglite.tree.MetadataPool

/**
 * The versions of a table whose metadata files are rewritten.
 *
 * @param newest the newest of these versions
 * @param older the versions between the start version and `newest`, both excluded; without a start version, all
 *   versions in the metadata log of `newest`
 * @param startIds the ids of the snapshots of the start version; absent if there is no start version
 */
final private[relocate] case class RewrittenVersions(
    newest: TableVersion,
    older: Vector[TableVersion],
    startIds: Option[Set[Long]]
) {
  private val newIds = startIds.map(all.flatMap(_.metadata.snapshots.map(_.snapshotId)).toSet -- _)

  def all: Vector[TableVersion] = newest +: older

  /**
   * Returns whether a snapshot was added after the start version; true if there is no start version. The snapshot may
   * have expired before the newest version.
   */
  def isNew(snapshotId: Long): Boolean = newIds.forall(_(snapshotId))

  def isInStart(snapshotId: Long): Boolean = startIds.exists(_(snapshotId))
}

private[relocate] object RewrittenVersions {

  def nameOf(path: String): String = path.substring(path.lastIndexOf('/') + 1)

  /**
   * Finds versions by the names or paths of their metadata files. Each must be the current metadata file or listed in
   * the table's metadata log.
   *
   * @throws InvalidArgument if the log has no such version, or if the start version is not before the end version
   * @throws ValidationFailed if a metadata file between the versions does not exist any more
   */
  def of(table: Table, start: Option[String], end: Option[String]): RewrittenVersions = {
    val newestPath = end.fold(table.metadataLocation)(find(table, "end_version", _))
    val startPath = start.map(find(table, "start_version", _))
    if (startPath.contains(newestPath)) throw notBefore(startPath.mkString, newestPath)
    val newest = read(table, newestPath)
    val log = newest.metadata.metadataLog.map(_.metadataFile)
    startPath.filterNot(log.contains).foreach(path => throw notBefore(path, newestPath))
    val olderPaths = startPath.fold(log)(path => log.drop(log.lastIndexOf(path) + 1))
    val startIds = startPath.map(read(table, _).metadata.snapshots.map(_.snapshotId).toSet)
    RewrittenVersions(newest, MetadataPool.map(olderPaths)(read(table, _)), startIds)
  }

  private def find(table: Table, argument: String, version: String): String = {
    val paths = table.metadata.metadataLog.map(_.metadataFile) :+ table.metadataLocation
    paths.reverse.find(path => nameOf(path) == version || path == version).getOrElse(throw InvalidArgument(
      s"argument $argument",
      version,
      s"The metadata log of ${table.name} has no file with this name. The newest files are " +
        paths.reverse.take(MaxShown).map(nameOf).mkString(", ")
    ))
  }

  private val MaxShown = 5

  private def notBefore(start: String, end: String): InvalidArgument = InvalidArgument(
    "argument start_version",
    nameOf(start),
    s"It must be an older version than the end version ${nameOf(end)}"
  )

  private def read(table: Table, path: String): TableVersion =
    if (path == table.metadataLocation) table.version
    else if (table.io.exists(path)) TableVersion(MetadataFiles.read(table.io, path), path)
    else throw ValidationFailed(
      s"Cannot rewrite the paths of ${table.name}: its metadata file $path does not exist any more. Restore it, or " +
        "set start_version to a newer version whose files were copied before"
    )
}
