package iceberglite.catalog

import scala.annotation.tailrec
import scala.util.{Failure, Success, Try}

import iceberglite.spec.ObjectKind
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.property.{MetadataCompression, TableProperty}
import iceberglite.storage.{FileIO, MetadataFiles}
import iceberglite.table._

/**
 * Loads, commits and registers the tables of a catalog that stores a pointer to the current metadata file of each
 * table.
 *
 * @param warehouse the location of tables, for messages
 */
final private[catalog] class PointerTables(io: FileIO, environment: Environment, warehouse: String) {

  /** Returns the newest version; `None` if the table does not exist. */
  def load(pointer: Pointer[TableVersion]): Option[TableVersion] = load(pointer, pointer.read())

  /**
   * Returns the newest version. If the pointer still refers to the metadata file of `known`, returns `known` without
   * reading the file.
   */
  def reload(pointer: Pointer[TableVersion], known: TableVersion): Option[TableVersion] = pointer.read() match {
    case Some(path) if path == known.metadataLocation => Some(known)
    case path => load(pointer, path)
  }

  /**
   * Loads the metadata file at `path`. If the file cannot be read and the pointer has moved, a later commit has
   * replaced the file. In this case, the file to which the pointer now refers is loaded instead.
   */
  @tailrec
  private def load(pointer: Pointer[TableVersion], path: Option[String]): Option[TableVersion] =
    path.map(p => p -> Try(MetadataFiles.read(io, p))) match {
      case None => None
      case Some((p, Success(metadata))) =>
        val version = TableVersion(metadata, p)
        pointer.verify(version)
        Some(version)
      case Some((_, Failure(failure))) =>
        val current = pointer.read()
        if (current == path) throw failure
        load(pointer, current)
    }

  /**
   * Commits a change to a table; see [[Committer.commit]].
   *
   * @param name the table's name, for messages
   * @param ownership returns the locations that a version of the table owns; called only if the commit removes entries
   *   from the metadata log
   */
  def commit(
      name: String,
      pointer: Pointer[TableVersion],
      base: Option[TableVersion],
      change: Change,
      ownership: TableVersion => TableOwnership
  ): TableVersion = {
    val next = NextVersion.of(name, base, change, environment.nowMs())
    val version = TableVersion(next.metadata, nextFile(base, next.metadata))
    new PointerSwap(name, pointer, PointerTables.Tables, io, environment, warehouse).commit(base, version)
    if (next.expired.nonEmpty) environment.cleanup.run(s"delete expired metadata files of $name") {
      deleteExpired(name, next.expired, version, ownership)
    }
    version
  }

  private def deleteExpired(
      name: String,
      expired: Vector[String],
      version: TableVersion,
      ownership: TableVersion => TableOwnership
  ): Unit = {
    val deletion = new OwnedDeletion(io, OwnedPaths.of(io, version, ownership(version)), environment = environment)
    deletion.deleteExpired(expired, version, hasVersionNames = false).warn(s"A commit to $name")
  }

  /**
   * Creates a pointer to an existing metadata file. The file is not deleted if the registration fails.
   *
   * @throws iceberglite.spec.IcebergError.AlreadyExists if an object with the name exists
   */
  def register(name: String, pointer: Pointer[TableVersion], metadataFile: String): Unit = {
    // Otherwise, the clean-up after an earlier commit to the same table could delete the file after it was read here.
    environment.cleanup.await()
    val version = TableVersion(MetadataFiles.read(io, metadataFile), metadataFile)
    PointerRegistration(ObjectKind.Table, name, pointer, version, metadataFile)
  }

  private def nextFile(base: Option[TableVersion], next: TableMetadata): String = {
    val name = PointerTables.fileName(base.map(_.metadataLocation), environment, PointerTables.codecOf(next))
    TableLocations.inside(TableLocations.metadata(next), name)
  }
}

private[catalog] object PointerTables {

  /**
   * Returns the name of a new metadata file, such as `00000-<uuid>.metadata.json`. The number is one greater than the
   * number in the name of the previous file, or 0 for the first file.
   */
  def fileName(previous: Option[String], environment: Environment, codec: MetadataCompression): String = {
    val version = previous.fold(0)(path => MetadataFiles.version(path).fold(0)(_ + 1))
    MetadataFiles.fileName(version, environment.uuid(), codec)
  }

  private def codecOf(metadata: TableMetadata): MetadataCompression =
    TableProperty.of(TableProperty.MetadataCodec, metadata.properties)

  private object Tables extends PointerTarget[TableVersion] {
    override def location(state: TableVersion): String = state.metadataLocation

    override def contents(state: TableVersion): Array[Byte] =
      MetadataFiles.bytes(state.metadata, codecOf(state.metadata))

    override def properties(state: TableVersion): Map[String, String] = state.metadata.properties

    override def log(io: FileIO, path: String): Vector[String] =
      MetadataFiles.read(io, path).metadataLog.map(_.metadataFile)
  }
}
