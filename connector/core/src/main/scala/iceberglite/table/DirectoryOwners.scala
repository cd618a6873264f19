package iceberglite.table

import java.util.UUID
import java.util.concurrent.ConcurrentHashMap

import scala.util.Try

import iceberglite.spec.IcebergError.{InvalidMetadata, UnreadableFile}
import iceberglite.storage.{FileIO, FileInfo, MetadataFiles, StoragePath}
import iceberglite.tree.MetadataPool

/**
 * Finds other tables whose directory is equal to, above or below a given directory. Other tables are found by their
 * metadata folders in the file system, and through the catalog.
 *
 * @param version the version of the table whose files are checked
 * @param readsAllFiles whether all metadata files in a folder are read to find other tables, instead of the newest ones
 */
final private[table] class DirectoryOwners(
    io: FileIO,
    version: TableVersion,
    ownership: TableOwnership,
    readsAllFiles: Boolean
) {
  import DirectoryOwners._

  private val ownMetadataFiles: Set[StoragePath] =
    (version.metadata.metadataLog.map(_.metadataFile) :+ version.metadataLocation).flatMap(pathOf).toSet
  private val ownFolder: Option[StoragePath] = pathOf(version.metadataLocation).map(_.parent)
  private val isTableCache = new ConcurrentHashMap[StoragePath, Try[Boolean]]

  def pathOf(path: String): Option[StoragePath] = StoragePath.of(path, io.defaultFileSystem)

  /** Returns the directory with symbolic links resolved. */
  def resolveLinks(directory: StoragePath): StoragePath = pathOf(io.realDirectory(directory.text)).getOrElse(directory)

  /** Returns whether the table's own current metadata file is in the directory's metadata folder. */
  def hasCurrentMetadata(directory: StoragePath): Boolean = ownFolder.contains(directory / Metadata)

  /** Returns the nearest parent directory that belongs to a table. */
  def enclosingTable(directory: StoragePath): Option[StoragePath] =
    directory.names.inits.drop(1).map(names => directory.copy(names = names)).find(isVisibleTable)

  /**
   * Returns whether a directory belongs to a table. If the directory cannot be listed, the failure is logged, and the
   * directory is assumed to belong to no table, because credentials often do not permit listing parent directories.
   */
  private def isVisibleTable(directory: StoragePath): Boolean = {
    var found = false
    Cleanup.quietly(s"look for a table in $directory") { found = isTable(directory) }
    found
  }

  /**
   * Returns whether a directory has a metadata folder that contains metadata files. A failure is remembered, so that a
   * directory with many files that cannot be listed is listed only once.
   */
  def isTable(directory: StoragePath): Boolean =
    isTableCache.computeIfAbsent(directory, d => Try(metadataFiles(d).nonEmpty)).get

  /**
   * Returns the other tables that have metadata files in the directory's metadata folder, and the other tables of the
   * catalog whose directory is equal to, above or below the directory.
   */
  def otherTables(directory: StoragePath): Vector[OtherTable] =
    (tablesInFolder(directory) ++ Seq(directory, resolveLinks(directory)).distinct.flatMap(ownership.others)).distinct

  /**
   * Finds other tables by the UUIDs in the metadata files that are not in this table's metadata log. Unless all files
   * are read, only the newest ones are, because the current metadata file of a table in use is one of the newest files.
   * In the folder of a JDBC, Hive or REST table, files named `v<N>.metadata.json` belong to another table, even if they
   * have the same UUID.
   */
  private def tablesInFolder(directory: StoragePath): Vector[OtherTable] = {
    val (byVersion, byUuid) = metadataFiles(directory).partition(file => MetadataFiles.isVersionName(file.path))
    val newestVersion = byVersion.sortBy(file => MetadataFiles.version(file.path)).lastOption.toVector
    val foreign =
      if (ownership.hasVersionNames) byUuid else byUuid.filterNot(file => pathOf(file.path).exists(ownMetadataFiles))
    val newest = foreign.sortBy(file => (-file.modifiedMs, file.path)).take(
      if (readsAllFiles) foreign.size else NewestFiles
    )
    val uuids = MetadataPool.map(newest)(file => uuidIn(file).map(file -> _)).flatten
      .filter(_._2 != version.metadata.uuid)
    val newestOfEach = uuids.groupBy(_._2).values.map(_.head._1).toVector
    val found = newestOfEach ++ (if (ownership.hasVersionNames) Vector.empty else newestVersion)
    found.map(file => OtherTable(s"its metadata file is ${file.path}", directory, Some(file.path)))
  }

  /**
   * Reads the UUID in a metadata file.
   *
   * @return `Some(None)` for a file of version 1 without a UUID; absent if the file no longer exists, or if it is no
   *   table metadata, like the rest of a failed write
   */
  private def uuidIn(file: FileInfo): Option[Option[UUID]] =
    try {
      val uuid = MetadataFiles.uuid(io, file.path)
      if (uuid.isEmpty && version.metadata.uuid.isDefined) MetadataFiles.read(io, file.path)
      Some(uuid)
    } catch {
      case _: InvalidMetadata => None
      case _: UnreadableFile if !io.exists(file.path) => None
    }

  private def metadataFiles(directory: StoragePath): Vector[FileInfo] =
    io.list((directory / Metadata).text).filter(file => !file.isDirectory && isMetadata(file.path))
}

private[table] object DirectoryOwners {
  private val Metadata = "metadata"

  /** The maximum number of metadata files that are read in a folder, without those in the table's metadata log. */
  private val NewestFiles = 10

  private def isMetadata(path: String): Boolean =
    path.endsWith(".metadata.json") || path.endsWith(".metadata.json.gz")
}
