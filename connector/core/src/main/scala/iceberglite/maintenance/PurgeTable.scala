package iceberglite.maintenance

import iceberglite.encryption.TableKeys
import iceberglite.spec.IcebergError.ValidationFailed
import iceberglite.spec.property.TableProperty
import iceberglite.storage.{EncryptedTableIO, FileIO, MetadataFiles, StoragePath}
import iceberglite.table.{
  Cleanup,
  DeletionReport,
  EmptyDirectories,
  KeptReason,
  OtherTable,
  OwnedDeletion,
  OwnedPaths,
  ReachableFiles,
  TableOwnership,
  TableVersion
}
import iceberglite.tree.{FilePart, MetadataPool, MetadataTree, Reachable, SeenParts, TreeTable}

/**
 * Deletes the files that a table's metadata refers to, for `DROP TABLE ... PURGE`. Files that the table does not own
 * are kept; [[OwnedPaths]] defines which files a table owns.
 */
object PurgeTable {

  /**
   * Deletes the files. A file that cannot be deleted, or a manifest that cannot be read, does not prevent the deletion
   * of the other files. It is kept and reported.
   *
   * @param table the table's name, for messages
   * @param ownership the table's directories according to the catalog, determined before the catalog dropped the table
   * @param metadataFolder metadata folder of a file-system table; absent for tables of other catalogs. The version
   *   files in this folder are deleted first, so that readers do not find a table without its data. The caller deletes
   *   the remaining files of the folder, and the directories. For tables of other catalogs, this method removes the
   *   directories that the deletion has emptied
   * @return the number of deleted files, and the files that were kept, which are also logged
   * @throws iceberglite.spec.IcebergError if [[requireGcEnabled]] rejects the purge; in this case, nothing is deleted
   */
  def apply(
      io: FileIO,
      table: String,
      version: TableVersion,
      ownership: TableOwnership,
      metadataFolder: Option[String] = None
  ): DeletionReport = {
    requireGcEnabled(io, table, version)
    val tableIO = EncryptedTableIO.of(io, version.metadata)
    val owned = OwnedPaths.of(io, version, ownership)
    val deletion = new OwnedDeletion(io, owned)
    val trees = treesOf(TreeTable(table, tableIO, version.metadata))
    val reachable = trees.flatMap(_._2)
    metadataFolder.foreach(deleteVersionFiles(io, _, owned, version))
    val content = MetadataPool.map(reachable.flatMap(_.parts)) { part =>
      part.path -> contentPaths(tableIO, part).map(delete(io, deletion, _))
    }
    val unread = trees.collect { case (Some(path), None) => path } ++ content.collect { case (path, None) => path }
    // The metadata is deleted last, because it shows which files remain if the purge ends before.
    val metadataPaths = (reachable.flatMap(_.metadata) ++ ReachableFiles.namedInMetadataFile(version)).distinct
      .filterNot(path => MetadataFiles.isMetadataName(path) && metadataFolder.exists(owned.isIn(path, _)))
      .filterNot(unread.toSet)
    val (reports, parents) = (content.flatMap(_._2) :+ delete(io, deletion, metadataPaths)).unzip
    val report = reports.reduce(_ ++ _) ++ DeletionReport.of(0, unread.map(_ -> KeptReason.Unread))
    if (metadataFolder.isEmpty) removeEmptied(io, version, owned, parents.flatten)
    report.warn(s"Purging $table")
    report
  }

  /**
   * Fails if the table must not be purged.
   *
   * @throws ValidationFailed if `gc.enabled` is false, because other tables may then use the table's files
   * @throws iceberglite.spec.IcebergError if the table is encrypted, and the keys of its snapshots are not available
   */
  def requireGcEnabled(io: FileIO, table: String, version: TableVersion): Unit = {
    // Without its keys, the manifests of an encrypted table cannot be read, so it is unknown which files the table has.
    // All keys are requested here, because the only copy of the encrypted keys is in the table metadata, which is
    // deleted with the other files.
    TableKeys.of(table, version.metadata, io.keyService).foreach(_.requireKeys())
    if (!TableProperty.of(TableProperty.Gc, version.metadata.properties)) throw ValidationFailed(
      s"Cannot purge table $table: its property ${TableProperty.Gc.key} is false, because other tables may use its " +
        "files. Drop the table without PURGE, or set the property to true first"
    )
  }

  /**
   * Returns, for each snapshot, the path of its manifest list (or of its root in version 4) and the files of its
   * metadata tree; the files are `None` if the tree cannot be read.
   */
  private def treesOf(table: TreeTable): Vector[(Option[String], Option[Reachable])] = {
    val seen = new SeenParts
    table.metadata.snapshots.map { snapshot =>
      snapshot.manifestList ->
        orNone(s"list the files of snapshot ${snapshot.snapshotId}")(MetadataTree.at(snapshot, table).reachable(seen))
    }
  }

  private def deleteVersionFiles(io: FileIO, folder: String, owned: OwnedPaths, version: TableVersion): Unit = {
    // This call determines the owned directories from the version files, which are deleted next.
    owned.reasonToKeep(version.metadataLocation)
    io.list(folder).map(_.path).filter(MetadataFiles.isVersionName).foreach(io.delete)
  }

  /**
   * Removes the directories that the deletion has emptied: the directory that contains the metadata folder, and the
   * directories in it. Does nothing if the table does not own the directory that contains the metadata folder, or if
   * this directory is the root of a file system.
   */
  private def removeEmptied(io: FileIO, version: TableVersion, owned: OwnedPaths, parents: Vector[StoragePath]): Unit =
    if (owned.reasonToKeep(version.metadataLocation).isEmpty)
      OtherTable.of(io, version.metadata.location, version.metadataLocation).map(_.directory).filter(_.names.nonEmpty)
        .foreach(EmptyDirectories.removeEmptied(io, _, owned, parents))

  /** Deletes files. @return the report, and the directories of the deleted files */
  private def delete(
      io: FileIO,
      deletion: OwnedDeletion,
      paths: Vector[String]
  ): (DeletionReport, Vector[StoragePath]) = {
    val results = deletion.delete(paths)
    val deleted = results.collect { case (path, None) => path }
    (DeletionReport.ofAll(results), deleted.flatMap(StoragePath.of(_, io.defaultFileSystem)).map(_.parent).distinct)
  }

  private def contentPaths(io: FileIO, part: FilePart): Option[Vector[String]] =
    orNone(s"read ${part.path}")(part.entries(io).map(_.file.path).toVector.distinct)

  private def orNone[A](what: String)(read: => A): Option[A] = {
    var found: Option[A] = None
    Cleanup.quietly(what) { found = Some(read) }
    found
  }
}
