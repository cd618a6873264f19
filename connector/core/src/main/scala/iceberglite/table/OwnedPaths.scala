package iceberglite.table

import java.util.concurrent.ConcurrentHashMap

import scala.util.control.NonFatal

import iceberglite.io.{FileIO, MetadataFiles, StoragePath}

/**
 * Decides which files a table may delete. Metadata may refer to any file, for reading; but whoever can write metadata
 * must not be able to have another owner's files deleted by it. So a table owns
 *
 *   - the directory that is known from outside of its metadata, and those that the catalog's settings give it;
 *   - the location that its metadata names, if its current metadata file is in the metadata folder there and neither
 *     the file system nor the catalog shows another table in, at or around it.
 *
 * In all of them the files of other tables are kept: those in a directory with a metadata folder, and those that
 * another table of the same directory refers to. Properties of the table, such as `write.data.path`, count for nothing.
 *
 * Whether other tables are there is found out once, when the first path asks. Safe for use by several threads.
 */
final class OwnedPaths private (io: FileIO, version: TableVersion, ownership: TableOwnership) {
  import OwnedPaths._

  private val owners = new DirectoryOwners(io, version, ownership)
  private val resolved = new ConcurrentHashMap[StoragePath, StoragePath]

  private lazy val places: Vector[OwnedDirectory] = {
    val known = (ownership.directory.toVector ++ ownership.locations.of(ownership.names)).flatMap(directoryOf).distinct
    // A dot in a name would make directories of two tables the same.
    val prefixes =
      if (ownership.names.exists(_.contains('.'))) Vector.empty
      else ownership.locations.prefixes.flatMap(owners.pathOf)
    val named = directoryOf(version.metadata.location).filterNot(known.contains)
    known.map(new CatalogDirectory(_)) ++ prefixes.map(new ConfiguredPrefix(_)) ++ named.map(new MetadataLocation(_))
  }

  /** Absent where the table may delete the file. */
  def reasonToKeep(path: String): Option[KeptReason] = reason(path, isOwnMetadata = false)

  /**
   * Like [[reasonToKeep]], for a metadata file whose content proves that this table wrote it. In a directory that the catalog
   * knows, other tables are not looked for, which saves requests to the storage in every commit.
   */
  def reasonToKeepOwnMetadata(path: String): Option[KeptReason] = reason(path, isOwnMetadata = true)

  private def reason(path: String, isOwnMetadata: Boolean): Option[KeptReason] = owners.pathOf(path) match {
    case None => Some(KeptReason.UnclearPath)
    case Some(file) => places.find(_.contains(file)).fold[Option[KeptReason]](Some(KeptReason.Outside)) {
        case place: CatalogDirectory if isOwnMetadata => linked(place.directory, file).orElse(current(place, file))
        case place =>
          place.reasonToKeepAll.orElse(linked(place.directory, file)).orElse(nested(place.topOf(file), file))
            .orElse(place.reasonToKeepFile(file))
      }
  }

  /** Whether a path is directly in a folder. */
  private[iceberglite] def isIn(path: String, folder: String): Boolean =
    owners.pathOf(path).exists(file => owners.pathOf(folder).exists(f => real(f) == real(file.parent)))

  /** A table that was registered twice, or renamed, has its current metadata file in the log of another. */
  private def current(place: OwnedDirectory, file: StoragePath): Option[KeptReason] =
    place.checked {
      if (currentMetadata.contains(canonical(file))) Some(KeptReason.UsedByOther(place.directory.text)) else None
    }

  private lazy val currentMetadata: Set[StoragePath] =
    ownership.currentMetadata().flatMap(owners.pathOf).map(canonical).toSet

  /** Absent for the root of a local file system, which no table owns. */
  private def directoryOf(path: String): Option[StoragePath] =
    owners.pathOf(path).filter(directory => directory.names.nonEmpty || directory.authority.nonEmpty)

  private def linked(directory: StoragePath, file: StoragePath): Option[KeptReason] = {
    val (top, parent) = (real(directory), real(file.parent))
    if (parent == top || parent.isBelow(top)) None else Some(KeptReason.Linked(directory.text))
  }

  /** The path with links in the parent directory resolved, so that a file has one path. */
  private def canonical(file: StoragePath): StoragePath =
    if (file.names.isEmpty) file else real(file.parent) / file.names.last

  private def real(directory: StoragePath): StoragePath = resolved.computeIfAbsent(directory, owners.real(_))

  /** Directories of partitions and hashes are not looked at: there can be as many as files. */
  private def nested(top: Int, file: StoragePath): Option[KeptReason] =
    (top + 1).until(file.names.size).map(n => file.copy(names = file.names.take(n)))
      .filterNot(directory => isLayout(directory.names.last)).find(owners.isTable)
      .map(directory => KeptReason.InOtherTable(directory.text, "it has a metadata folder"))

  /** A directory that may hold files of the table. */
  sealed abstract private class OwnedDirectory(val directory: StoragePath) {

    /** A table at the top of a bucket has only `data` and `metadata` there. */
    def contains(file: StoragePath): Boolean =
      file.isBelow(directory) && (directory.names.nonEmpty || file.names.headOption.exists(TopDirectories))

    /** How many names of a file's path are those of the directory of the table. */
    def topOf(file: StoragePath): Int = math.min(directory.names.size, file.names.size)

    /** Why all files of the directory are kept. */
    def reasonToKeepAll: Option[KeptReason]

    /** Why one file is kept. */
    def reasonToKeepFile(file: StoragePath): Option[KeptReason]

    /** A failed check keeps the files. */
    final def checked(body: => Option[KeptReason]): Option[KeptReason] =
      try body
      catch { case NonFatal(e) => Some(KeptReason.Unchecked(directory.text, String.valueOf(e.getMessage))) }

    final protected def enclosed(directory: StoragePath): Option[KeptReason] =
      Seq(directory, real(directory)).distinct.flatMap(owners.enclosing(_)).headOption
        .map(around => KeptReason.InOtherTable(around.text, s"it has a metadata folder and contains $directory"))

    final protected def shared(directory: StoragePath): Option[KeptReason] =
      owners.others(directory).headOption.map(other => KeptReason.InOtherTable(directory.text, other.name))
  }

  /** Known from outside of the metadata: only the files that other tables there need are kept. */
  final private class CatalogDirectory(directory: StoragePath) extends OwnedDirectory(directory) {
    private lazy val others = owners.others(directory)

    override lazy val reasonToKeepAll: Option[KeptReason] =
      checked(enclosed(directory).orElse(overlappingTable).orElse {
        // Read now, so that a failure keeps every file.
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

  /** A directory that several tables share by the catalog's settings, each in one of its name. */
  final private class ConfiguredPrefix(directory: StoragePath) extends OwnedDirectory(directory) {
    private val own = Vector(ownership.names.dropRight(1).mkString("."), ownership.names.last)
    private val ownDirectory = directory.copy(names = directory.names ++ own)

    /** Object storage layouts put the directories of a hash first. */
    private def hashes(file: StoragePath): Int = file.names.drop(directory.names.size).takeWhile(isHash).size

    override def topOf(file: StoragePath): Int = directory.names.size + hashes(file) + own.size

    override def contains(file: StoragePath): Boolean = file.isBelow(directory) && topOf(file) < file.names.size &&
      file.names.slice(directory.names.size + hashes(file), topOf(file)) == own

    override lazy val reasonToKeepAll: Option[KeptReason] = checked(enclosed(ownDirectory).orElse(shared(ownDirectory)))

    override def reasonToKeepFile(file: StoragePath): Option[KeptReason] = None
  }

  /** Only the metadata names it. */
  final private class MetadataLocation(directory: StoragePath) extends OwnedDirectory(directory) {
    override lazy val reasonToKeepAll: Option[KeptReason] = checked {
      if (!owners.isProven(directory)) Some(KeptReason.Unproven(directory.text))
      else enclosed(directory).orElse(shared(directory)).orElse(claimed)
    }

    private def claimed: Option[KeptReason] = {
      val places = Seq(directory, real(directory)).distinct
      def overlaps(claim: StoragePath): Boolean =
        Seq(claim, real(claim)).exists(c => places.exists(_.overlaps(c)))
      val uuid = version.metadata.uuid
      ownership.claims().find(c => uuid.isDefined && c.uuid == uuid || c.directories.exists(overlaps))
        .map(c => KeptReason.InOtherTable(directory.text, c.name))
    }

    override def reasonToKeepFile(file: StoragePath): Option[KeptReason] = None
  }
}

object OwnedPaths {

  /** @param version of the table, perhaps one that was just dropped */
  def of(io: FileIO, version: TableVersion, ownership: TableOwnership): OwnedPaths =
    new OwnedPaths(io, version, ownership)

  private val TopDirectories = Set("data", "metadata")
  private val Hash = "[01]{4,20}".r

  private def isHash(name: String): Boolean = Hash.pattern.matcher(name).matches

  /** Whether a directory is one of a partition or a hash, as writers make them for data files. */
  private[iceberglite] def isLayout(name: String): Boolean = name.contains('=') || isHash(name)
}
