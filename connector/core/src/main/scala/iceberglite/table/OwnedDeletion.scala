package iceberglite.table

import iceberglite.storage.{FileIO, MetadataFiles, StoragePath}
import iceberglite.tree.MetadataPool

/**
 * Deletes files, except those that the table does not own. A file that cannot be deleted is reported, and the remaining
 * files are still deleted.
 */
final class OwnedDeletion(io: FileIO, owned: OwnedPaths) {

  def apply(paths: Vector[String]): DeletionReport = deleteUnlessKept(paths)(owned.reasonToKeep)

  /**
   * Deletes metadata files that were removed from the metadata log.
   *
   * @param version the current version of the table; only files in the folder of its metadata file are deleted
   * @param hasVersionNames whether the table's metadata files are named `v<N>.metadata.json`
   */
  def deleteExpired(paths: Vector[String], version: TableVersion, hasVersionNames: Boolean): DeletionReport =
    deleteUnlessKept(paths) { path =>
      owned.reasonToKeepOwnMetadata(path).orElse {
        val isOwnMetadata =
          isInSameFolder(path, version.metadataLocation) && hasExpectedName(path, hasVersionNames) && hasUuid(
            path,
            version
          )
        if (isOwnMetadata) None else Some(KeptReason.NotItsMetadata)
      }
    }

  private def deleteUnlessKept(paths: Vector[String])(reason: String => Option[KeptReason]): DeletionReport = {
    val reasons = paths.map(path => path -> reason(path))
    val deletable = reasons.collect { case (path, None) => path }
    val failed = MetadataPool.map(deletable)(path => Cleanup.deleteOrList(io, Vector(path))).flatten
    val kept = reasons.collect { case (path, Some(kept)) => path -> kept }
    DeletionReport.of(deletable.size.toLong - failed.size, kept ++ failed.map(_ -> KeptReason.NotDeleted))
  }

  private def isInSameFolder(path: String, other: String): Boolean = {
    def folder(file: String) = StoragePath.of(file, io.defaultFileSystem).map(_.parent)
    folder(path).isDefined && folder(path) == folder(other)
  }

  private def hasExpectedName(path: String, hasVersionNames: Boolean): Boolean =
    MetadataFiles.version(path).isDefined && MetadataFiles.isVersionName(path) == hasVersionNames

  /**
   * Returns whether the metadata file has the table's UUID. If the file is missing or unreadable, returns false and
   * logs a warning.
   */
  private def hasUuid(path: String, version: TableVersion): Boolean = {
    var found = false
    Cleanup.quietly(s"read the table UUID in $path") {
      found = version.metadata.uuid.isDefined && MetadataFiles.uuid(io, path) == version.metadata.uuid
    }
    found
  }
}
