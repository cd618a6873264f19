package iceberglite.table

import iceberglite.io.{FileIO, MetadataFiles, StoragePath}

/** Deletes those of some files that a table owns. A file that cannot be deleted is logged, and the others go on. */
final class OwnedDeletion(io: FileIO, owned: OwnedPaths) {

  def apply(paths: Vector[String]): DeletionReport = deleting(paths)(owned.reasonToKeep)

  /**
   * Deletes metadata files that fell out of the table's log.
   *
   * @param version of the table, whose current metadata file shows the folder of its own
   * @param hasVersionNames whether the table's metadata files are `v<N>.metadata.json`
   */
  def expired(paths: Vector[String], version: TableVersion, hasVersionNames: Boolean): DeletionReport =
    deleting(paths) { path =>
      owned.reasonToKeepOwn(path).orElse {
        val written =
          isBeside(path, version.metadataLocation) && isNamed(path, hasVersionNames) && hasUuid(path, version)
        if (written) None else Some(KeptReason.NotItsMetadata)
      }
    }

  private def deleting(paths: Vector[String])(reason: String => Option[KeptReason]): DeletionReport = {
    val decided = paths.map(path => path -> reason(path))
    val own = decided.collect { case (path, None) => path }
    Cleanup.delete(io, own)
    DeletionReport.of(own.size.toLong, decided.collect { case (path, Some(kept)) => path -> kept })
  }

  private def isBeside(path: String, other: String): Boolean = {
    def folder(of: String) = StoragePath.of(of, io.defaultFileSystem).map(_.parent)
    folder(path).isDefined && folder(path) == folder(other)
  }

  private def isNamed(path: String, hasVersionNames: Boolean): Boolean =
    MetadataFiles.version(path).isDefined && MetadataFiles.isVersionName(path) == hasVersionNames

  /** A file that is gone already needs no deletion. */
  private def hasUuid(path: String, version: TableVersion): Boolean = {
    var found = false
    Cleanup.quietly(s"read the table UUID in $path") {
      found = version.metadata.uuid.isDefined && MetadataFiles.uuid(io, path) == version.metadata.uuid
    }
    found
  }
}
