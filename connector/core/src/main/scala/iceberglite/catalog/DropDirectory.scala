package iceberglite.catalog

import org.slf4j.LoggerFactory

import iceberglite.maintenance.PurgeTable
import iceberglite.spec.Redaction
import iceberglite.spec.IcebergError.{InvalidMetadata, UnreadableFile, ValidationFailed}
import iceberglite.spec.property.TableProperty
import iceberglite.storage.{FileIO, MetadataFiles, StorageErrors, StoragePath}
import iceberglite.table._

/**
 * Drops a file-system table. Deletes the files in the table's directory that its metadata refers to, its metadata
 * files, and all empty directories. Other files are kept and reported, because they may belong to another table. A drop
 * with PURGE also deletes the files that the table owns in other locations; see [[OwnedPaths]].
 *
 * @param ownership the table's directory and the other locations that the table owns
 */
final private[catalog] class DropDirectory(io: FileIO, table: String, ownership: TableOwnership) {
  private val location = ownership.directory.getOrElse(table)
  private val metadata = TableLocations.inside(location, "metadata")
  private val versions = new VersionedTable(io, location, table)

  /**
   * Drops the table. A table whose metadata is damaged can be dropped only without PURGE, and its data files are kept.
   *
   * @return false if the table does not exist
   * @throws ValidationFailed if the directory may contain files of other tables, or if `gc.enabled` is false
   * @throws UnreadableFile if the storage cannot read the newest metadata file. The file may be intact, and may contain
   *   `gc.enabled=false`
   */
  def apply(purge: Boolean): Boolean = {
    val exists = versions.exists
    if (exists) {
      rejectSymbolicLink()
      rejectPointerCatalogMetadata()
      val version = if (purge) versions.newest() else newestUnlessDamaged()
      version.foreach(rejectIfGcDisabled)
      val ownMetadata = metadataFiles.filter(MetadataFiles.isMetadataName)
      val owned = if (purge) ownership else ownership.copy(locations = OwnedLocations.Empty)
      version.foreach(PurgeTable(io, table, _, owned, metadataFolder = Some(metadata)))
      // Once the version files are deleted, another writer can create the table again. The metadata files of the new
      // table must be kept. Therefore only the metadata files that were listed before that point are deleted.
      io.delete(TableLocations.inside(metadata, MetadataFiles.VersionHint))
      ownMetadata.filterNot(path => version.isDefined && MetadataFiles.isVersionName(path)).foreach(io.delete)
      EmptyDirectories.removeAll(io, location).foreach { remaining =>
        DropDirectory.log.warn(Redaction(
          s"Dropping $table kept files in $location that its metadata does not refer to, for example $remaining. " +
            "The files may be left over from failed writes, or belong to another table. Delete the directory if its " +
            "files are not needed"
        ))
      }
    }
    exists
  }

  /** Returns the newest version; `None` if its metadata file is damaged. */
  private def newestUnlessDamaged(): Option[TableVersion] =
    try versions.newest()
    catch {
      case _: InvalidMetadata => None
      case e: UnreadableFile if StorageErrors.isDamage(e) => None
    }

  private def metadataFiles: Vector[String] = io.list(metadata).filterNot(_.isDirectory).map(_.path)

  /**
   * Rejects a path whose symbolic links may lead to the directory of another table. This is possible if the table's
   * directory or its metadata folder is itself a symbolic link. It is also possible if a directory above the table is a
   * symbolic link, and the target of the link is inside the directory that contains the link.
   */
  private def rejectSymbolicLink(): Unit = StoragePath.of(location, io.defaultFileSystem).foreach { directory =>
    val ancestors = directory.names.inits.filter(_.nonEmpty).map(names => directory.copy(names = names)).toVector
    val above = ancestors.find(d => isLink(d.parent, d) && (d == directory || targetsSibling(d)))
    above.orElse(Some(directory / "metadata").filter(isLink(directory, _))).foreach { link =>
      throw ValidationFailed(
        s"Cannot drop table $table: $link is a symbolic link to ${io.realDirectory(link.text)}. Drop the table by " +
          "its real directory, or remove the link"
      )
    }
  }

  private def targetsSibling(link: StoragePath): Boolean =
    realPath(link).exists(target => realPath(link.parent).exists(target.isBelow))

  private def isLink(directory: StoragePath, child: StoragePath): Boolean =
    realPath(child) != realPath(directory).map(_ / child.names.last)

  private def realPath(directory: StoragePath): Option[StoragePath] =
    StoragePath.of(io.realDirectory(directory.text), io.defaultFileSystem)

  /**
   * Rejects a directory with metadata files of a catalog that stores a pointer to the current metadata file, such as a
   * Hive Metastore. The table must be dropped in that catalog.
   */
  private def rejectPointerCatalogMetadata(): Unit =
    metadataFiles.find { path =>
      MetadataFiles.version(path).isDefined && !MetadataFiles.isVersionName(path)
    }.foreach { path =>
      throw ValidationFailed(
        s"Cannot drop table $table: its directory $location has metadata of a catalog that stores a pointer to the " +
          s"newest metadata file ($path). First drop the table in that catalog, and delete its remaining metadata files"
      )
    }

  private def rejectIfGcDisabled(version: TableVersion): Unit =
    if (!TableProperty.of(TableProperty.Gc, version.metadata.properties)) throw ValidationFailed(
      s"Cannot drop table $table: its property ${TableProperty.Gc.key} is false, because other tables may use its " +
        s"files, but dropping a table of a file-system catalog deletes its files in $location. Set the property to " +
        "true first"
    )
}

private object DropDirectory {
  private val log = LoggerFactory.getLogger("iceberglite.catalog.DropDirectory")
}
