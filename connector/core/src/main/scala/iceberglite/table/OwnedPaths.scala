package iceberglite.table

import java.util.concurrent.ConcurrentHashMap

import scala.util.control.NonFatal

import iceberglite.storage.{FileIO, MetadataFiles, StoragePath}
import iceberglite.tree.MetadataPool

/**
 * Decides which files a table may delete. Metadata may refer to any file for reading, but a user who can write metadata
 * must not be able to cause the deletion of another owner's files. Therefore a table owns only
 *
 *   - the directory that the catalog, or the table's name or path, determines, and the directories that the catalog's
 *     settings assign to the table;
 *   - the location in its metadata, if the metadata folder of this location contains the table's current metadata file,
 *     and neither the file system nor the catalog has another table at, below or above this location.
 *
 * In all of these directories, files of other tables are not deleted. These are the files in a nested directory with a
 * metadata folder, and the files that another table in the same directory refers to. Table properties such as
 * `write.data.path` are ignored.
 *
 * The other tables are looked up once, when the first path is checked. Thread-safe.
 */
final class OwnedPaths private (
    io: FileIO,
    version: TableVersion,
    ownership: TableOwnership,
    ofUnreferencedFiles: Boolean
) {
  import OwnedPaths._

  private val owners = new DirectoryOwners(io, version, ownership, readsAllFiles = ofUnreferencedFiles)
  private val resolved = new ConcurrentHashMap[StoragePath, StoragePath]

  private lazy val ownedDirectories: Vector[OwnedDirectory] = {
    val known = (ownership.directory.toVector ++ ownership.locations.of(ownership.names)).flatMap(directoryOf).distinct
    // If the table's name or a namespace level contains a dot, the table owns no directory below a shared prefix,
    // because two tables could have the same directory there.
    val prefixes =
      if (ownership.names.exists(_.contains('.'))) Vector.empty
      else ownership.locations.prefixes.flatMap(owners.pathOf)
    val fromMetadata = directoryOf(version.metadata.location).filterNot(known.contains)
    known.map(new CatalogDirectory(_)) ++ prefixes.map(new ConfiguredPrefix(_)) ++
      fromMetadata.map(new MetadataLocation(_))
  }

  /** Returns why the file is kept; absent if the table may delete it. */
  def reasonToKeep(path: String): Option[KeptReason] = reason(path, isOwnMetadata = false)

  /** Returns each path with the reason why the file is kept. The directories of the files are checked in parallel. */
  def reasonsToKeep(paths: Vector[String]): Vector[(String, Option[KeptReason])] = {
    // The owned directories are determined once, before several threads need them.
    paths.headOption.foreach(reasonToKeep)
    MetadataPool.map(paths.grouped(GroupSize).toVector)(_.map(path => path -> reasonToKeep(path))).flatten
  }

  /**
   * Returns why a metadata file with this table's UUID is kept; absent if the table may delete it. Unlike in
   * [[reasonToKeep]], the storage is not searched for other tables in the directory if the catalog determines the
   * directory. This saves storage requests in every commit.
   */
  def reasonToKeepOwnMetadata(path: String): Option[KeptReason] = reason(path, isOwnMetadata = true)

  private def reason(path: String, isOwnMetadata: Boolean): Option[KeptReason] = owners.pathOf(path) match {
    case None => Some(KeptReason.UnclearPath)
    case Some(file) => ownedDirectories.find(_.contains(file)).fold[Option[KeptReason]](Some(KeptReason.Outside)) {
        owned =>
          owned.keepOnFailure {
            val ofDirectory = if (isOwnMetadata) owned.reasonToKeepMetadata else owned.reasonToKeepAll
            ofDirectory.orElse(reasonIfLinkedOutside(owned.directory, file)).orElse(
              if (isOwnMetadata) reasonIfUsedByOther(owned, file)
              else reasonIfNestedTable(owned.tableDepth(file), file).orElse(owned.reasonToKeepFile(file))
            )
          }
      }
  }

  /** Returns whether a path is directly in a folder. */
  private[iceberglite] def isIn(path: String, folder: String): Boolean =
    owners.pathOf(path).exists(file => owners.pathOf(folder).exists(f => resolveLinks(f) == resolveLinks(file.parent)))

  /**
   * Returns why a metadata file is kept if it is the current metadata file of another table. If a table was registered
   * twice, or renamed, the metadata log of one table can contain the current metadata file of the other table.
   */
  private def reasonIfUsedByOther(owned: OwnedDirectory, file: StoragePath): Option[KeptReason] = {
    val others = file.names.lastOption.toVector.flatMap(ownership.metadataFilesOfOthers)
    val isUsed = others.flatMap(owners.pathOf).map(canonical).contains(canonical(file))
    if (isUsed) Some(KeptReason.UsedByOther(owned.directory.text)) else None
  }

  /** Returns the directory of a path; absent for the root of a local file system, which no table owns. */
  private def directoryOf(path: String): Option[StoragePath] =
    owners.pathOf(path).filter(directory => directory.names.nonEmpty || directory.authority.nonEmpty)

  private def reasonIfLinkedOutside(directory: StoragePath, file: StoragePath): Option[KeptReason] = {
    val (top, parent) = (resolveLinks(directory), resolveLinks(file.parent))
    if (parent == top || parent.isBelow(top)) None else Some(KeptReason.Linked(directory.text))
  }

  /** Returns the path with links in the parent directory resolved, so that each file has a single path. */
  private def canonical(file: StoragePath): StoragePath =
    if (file.names.isEmpty) file else resolveLinks(file.parent) / file.names.last

  private def resolveLinks(directory: StoragePath): StoragePath =
    resolved.computeIfAbsent(directory, owners.resolveLinks(_))

  /**
   * Returns why a file is kept if it is in the directory of a nested table. If the table refers to the files, partition
   * and hash directories are not checked, because a table can have as many of these directories as files.
   *
   * @param depth the number of leading elements of the file's path that form the table's directory
   */
  private def reasonIfNestedTable(depth: Int, file: StoragePath): Option[KeptReason] =
    (depth + 1).until(file.names.size).map(n => file.copy(names = file.names.take(n)))
      .filter(directory => ofUnreferencedFiles || !isLayout(directory.names.last)).find(owners.isTable)
      .map(directory => KeptReason.InOtherTable(directory.text, "it has a metadata folder"))

  /** A directory that may contain files of the table. */
  sealed abstract private class OwnedDirectory(val directory: StoragePath) {

    /**
     * Returns whether the directory contains the file. If a table's directory is the root of a bucket, the table owns
     * only the directories `data` and `metadata` in the bucket.
     */
    def contains(file: StoragePath): Boolean =
      file.isBelow(directory) && (directory.names.nonEmpty || file.names.headOption.exists(TopDirectories))

    /** Returns the number of leading elements of the file's path that form the table's directory. */
    def tableDepth(file: StoragePath): Int = math.min(directory.names.size, file.names.size)

    /** Returns why all files of the directory are kept; absent if each file is checked on its own. */
    def reasonToKeepAll: Option[KeptReason]

    /**
     * Returns why the table's own metadata files are kept. Subclasses may omit checks, because every commit calls this
     * method.
     */
    def reasonToKeepMetadata: Option[KeptReason] = reasonToKeepAll

    /** Returns why a single file is kept. */
    def reasonToKeepFile(file: StoragePath): Option[KeptReason]

    /** Runs a check. If the check fails, the files are kept. */
    final def keepOnFailure(body: => Option[KeptReason]): Option[KeptReason] =
      try body
      catch { case NonFatal(e) => Some(KeptReason.Unchecked(directory.text, String.valueOf(e.getMessage))) }

    final protected def reasonIfEnclosed(directory: StoragePath): Option[KeptReason] =
      Seq(directory, resolveLinks(directory)).distinct.flatMap(owners.enclosingTable(_)).headOption
        .map(outer => KeptReason.InOtherTable(outer.text, s"it has a metadata folder and contains $directory"))

    final protected def reasonIfShared(directory: StoragePath): Option[KeptReason] =
      owners.otherTables(directory).headOption.map(other => KeptReason.InOtherTable(directory.text, other.name))
  }

  /**
   * A directory that the catalog, or the table's name or path, determines. All files are kept if the directory is
   * inside another table's directory, or if it overlaps the directory of a table that is not an Iceberg table.
   * Otherwise, files that other tables in this directory refer to are kept.
   */
  final private class CatalogDirectory(directory: StoragePath) extends OwnedDirectory(directory) {
    override def reasonToKeepMetadata: Option[KeptReason] = None

    private lazy val others = owners.otherTables(directory)

    override lazy val reasonToKeepAll: Option[KeptReason] =
      keepOnFailure(reasonIfEnclosed(directory).orElse(overlappingTable).orElse {
        // The set is evaluated inside `keepOnFailure`, so that all files are kept if the evaluation fails.
        filesOfOtherTables
        None
      })

    private def overlappingTable: Option[KeptReason] =
      others.find(other => directory.isBelow(other.directory) || other.metadataLocation.isEmpty)
        .map(other => KeptReason.InOtherTable(directory.text, other.name))

    private lazy val filesOfOtherTables: Set[StoragePath] =
      others.flatMap(_.metadataLocation).distinct.flatMap { location =>
        ReachableFiles.of(io, TableVersion(MetadataFiles.read(io, location), location)).flatMap(owners.pathOf)
          .map(canonical)
      }.toSet

    override def reasonToKeepFile(file: StoragePath): Option[KeptReason] =
      if (filesOfOtherTables.contains(canonical(file))) Some(KeptReason.UsedByOther(directory.text)) else None
  }

  /**
   * A directory that several tables share according to the catalog's settings. Each table owns the subdirectory
   * `<namespace>/<table>`, directly in the directory or below hash directories.
   */
  final private class ConfiguredPrefix(directory: StoragePath) extends OwnedDirectory(directory) {
    private val tableNames = Vector(ownership.names.dropRight(1).mkString("."), ownership.names.last)
    private val ownDirectory = directory.copy(names = directory.names ++ tableNames)

    /** Returns the number of hash directories directly below the prefix, as in object storage layouts. */
    private def hashLevels(file: StoragePath): Int = file.names.drop(directory.names.size).takeWhile(isHash).size

    override def tableDepth(file: StoragePath): Int = directory.names.size + hashLevels(file) + tableNames.size

    override def contains(file: StoragePath): Boolean = file.isBelow(directory) && tableDepth(file) < file.names.size &&
      file.names.slice(directory.names.size + hashLevels(file), tableDepth(file)) == tableNames

    override lazy val reasonToKeepAll: Option[KeptReason] =
      keepOnFailure(reasonIfEnclosed(ownDirectory).orElse(reasonIfShared(ownDirectory)))

    override def reasonToKeepFile(file: StoragePath): Option[KeptReason] = None
  }

  /** A directory that is known only from the table metadata. */
  final private class MetadataLocation(directory: StoragePath) extends OwnedDirectory(directory) {
    override lazy val reasonToKeepMetadata: Option[KeptReason] = keepOnFailure {
      if (!owners.hasCurrentMetadata(directory)) Some(KeptReason.Unproven(directory.text))
      else reasonIfEnclosed(directory).orElse(reasonIfShared(directory))
    }

    override lazy val reasonToKeepAll: Option[KeptReason] =
      reasonToKeepMetadata.orElse(keepOnFailure(reasonIfDirectoryIsUsed))

    private def reasonIfDirectoryIsUsed: Option[KeptReason] = {
      val paths = Seq(directory, resolveLinks(directory)).distinct
      def overlaps(usedDirectory: StoragePath): Boolean =
        Seq(usedDirectory, resolveLinks(usedDirectory)).exists(used => paths.exists(_.overlaps(used)))
      val uuid = version.metadata.uuid
      ownership.usedDirectories()
        .find(table => uuid.isDefined && table.uuid == uuid || table.directories.exists(overlaps))
        .map(table => KeptReason.InOtherTable(directory.text, table.name))
    }

    override def reasonToKeepFile(file: StoragePath): Option[KeptReason] = None
  }
}

object OwnedPaths {

  /**
   * Returns the checks for files that the table refers to, or referred to.
   *
   * @param version the last version of the table, which may have been dropped since
   */
  def of(io: FileIO, version: TableVersion, ownership: TableOwnership): OwnedPaths =
    new OwnedPaths(io, version, ownership, ofUnreferencedFiles = false)

  /**
   * Returns the checks for files that the table does not refer to. Only their directories show whether they belong to
   * the table. Therefore, every directory and every metadata file in the table's metadata folder is checked.
   */
  def ofUnreferenced(io: FileIO, version: TableVersion, ownership: TableOwnership): OwnedPaths =
    new OwnedPaths(io, version, ownership, ofUnreferencedFiles = true)

  /** The number of paths that one thread checks, one after the other. */
  private val GroupSize = 20

  private val TopDirectories = Set("data", "metadata")
  private val Hash = "[01]{4,20}".r

  private def isHash(name: String): Boolean = Hash.pattern.matcher(name).matches

  /** Returns whether a directory has the name of a partition or hash directory, which writers create for data files. */
  private def isLayout(name: String): Boolean = name.contains('=') || isHash(name)
}
