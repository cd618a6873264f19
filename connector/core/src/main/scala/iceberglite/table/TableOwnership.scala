package iceberglite.table

import java.util.UUID

import scala.annotation.tailrec
import scala.util.Try

import iceberglite.spec.IcebergError.Unsupported
import iceberglite.spec.property.TableProperty
import iceberglite.storage.{FileIO, MetadataFiles, StoragePath}
import iceberglite.tree.MetadataPool

/**
 * Another table that a catalog knows.
 *
 * @param metadataLocation the current metadata file; absent if the table is not an Iceberg table
 */
final case class OtherTable(name: String, directory: StoragePath, metadataLocation: Option[String])

object OtherTable {

  /**
   * Returns a table in the given directory; absent if storage systems may interpret the path of the directory in
   * different ways.
   */
  def at(io: FileIO, name: String, directory: String, metadataLocation: Option[String]): Option[OtherTable] =
    StoragePath.of(directory, io.defaultFileSystem).map(OtherTable(name, _, metadataLocation))

  /**
   * Returns the table that has the given metadata file. The directory of the table is the parent of the folder
   * `metadata` or, if the file is not in a folder of this name, the folder of the file. Absent if storage systems may
   * interpret the path of the file in different ways.
   */
  def of(io: FileIO, name: String, metadataLocation: String): Option[OtherTable] =
    StoragePath.of(metadataLocation, io.defaultFileSystem).map { file =>
      val folder = file.parent
      val directory = if (folder.names.lastOption.contains("metadata")) folder.parent else folder
      OtherTable(name, directory, Some(metadataLocation))
    }
}

/**
 * The directories that the metadata of another table refers to. Any file in these directories may belong to that table.
 *
 * @param name the name of the table, for messages
 */
final case class UsedDirectories(name: String, uuid: Option[UUID], directories: Vector[StoragePath])

object UsedDirectories {

  /**
   * Returns the directories that each of the listed tables uses, from the tables' metadata. If a metadata file cannot
   * be read, a concurrent commit may have replaced and deleted it. Therefore the tables are listed again, and the new
   * metadata file is read. A table that the catalog no longer lists is omitted.
   *
   * @param listed the name and the current metadata file of each table; evaluated again after a failure
   * @throws iceberglite.spec.IcebergError if a metadata file that is still current cannot be read
   */
  def all(io: FileIO)(listed: => Vector[(String, String)]): Vector[UsedDirectories] = {
    def read(tables: Vector[(String, String)]): Vector[((String, String), Try[UsedDirectories])] =
      MetadataPool.map(tables) { case (name, location) => (name -> location) -> Try(of(io, name, location)) }
    @tailrec
    def complete(
        loaded: Vector[UsedDirectories],
        tables: Vector[(String, String)],
        attempts: Int
    ): Vector[UsedDirectories] = {
      val (succeeded, failed) = read(tables).partition(_._2.isSuccess)
      val allLoaded = loaded ++ succeeded.map(_._2.get)
      lazy val current = listed.toSet
      if (failed.isEmpty) allLoaded
      else {
        val (unreadable, replaced) = failed.partition(f => current(f._1))
        unreadable.headOption.foreach(_._2.get)
        val names = replaced.map(_._1._1).toSet
        val remaining = current.filter(t => names(t._1)).toVector
        if (remaining.isEmpty) allLoaded
        else if (attempts == 0) throw Unsupported(
          s"reading the metadata of tables that change continuously (${names.toVector.sorted.mkString(", ")})",
          "Run the statement again later"
        )
        else complete(allLoaded, remaining, attempts - 1)
      }
    }
    complete(Vector.empty, listed, Attempts)
  }

  private val Attempts = 5

  /**
   * Returns the directories that one table uses, from its metadata file.
   *
   * @throws iceberglite.spec.IcebergError if the file cannot be read
   */
  def of(io: FileIO, name: String, metadataLocation: String): UsedDirectories = {
    val metadata = MetadataFiles.read(io, metadataLocation)
    val locations = metadata.location +: TableProperty.locations.flatMap(p => metadata.properties.get(p.key))
    val metadataFiles =
      metadataLocation +: (metadata.metadataLog.map(_.metadataFile) ++ metadata.snapshots.flatMap(_.manifestList))
    val folders = metadataFiles.flatMap(OtherTable.of(io, name, _)).map(_.directory)
    val directories = locations.flatMap(StoragePath.of(_, io.defaultFileSystem)) ++ folders
    UsedDirectories(name, metadata.uuid, directories.distinct.toVector)
  }
}

/**
 * The directories that a table owns according to the catalog, or to the table's name or path. The locations in the
 * table's metadata are not trusted, because a user who can write metadata may have set locations that belong to another
 * owner. The exception is the location that a REST server returns, which the server is trusted to control.
 *
 * @param directory the table's directory according to its path or its name in the catalog; for a REST catalog, the
 *   location in the metadata that the server returned; absent if it is unknown
 * @param names the levels of the namespace, followed by the table's name
 * @param locations additional directories in the catalog's settings
 * @param hasVersionNames whether the table's metadata files are named `v<N>.metadata.json`, like those of file-system
 *   tables
 * @param others returns the catalog's other tables whose directory is equal to a given directory, or above or below it
 * @param usedDirectories returns the directories that the metadata of the catalog's other tables refers to. The
 *   function reads the metadata of all other tables. Therefore, it is called only by the search for orphan files, and
 *   before files are deleted from a directory that is known solely from the table's own metadata
 * @param metadataFilesOfOthers returns the current metadata files of the catalog's other tables, but only files with
 *   the given name
 */
final case class TableOwnership(
    directory: Option[String],
    names: Vector[String],
    locations: OwnedLocations = OwnedLocations.Empty,
    hasVersionNames: Boolean = false,
    others: StoragePath => Vector[OtherTable] = _ => Vector.empty,
    usedDirectories: () => Vector[UsedDirectories] = () => Vector.empty,
    metadataFilesOfOthers: String => Vector[String] = _ => Vector.empty
)

object TableOwnership {

  /** Returns the ownership of a table whose directories are known only from its metadata. */
  def unknown(id: TableIdentifier): TableOwnership = TableOwnership(None, id.namespace :+ id.name)
}

/**
 * Additional directories that the tables of a catalog own, according to the catalog's settings.
 *
 * @param prefixes directories that tables share; a table owns `<prefix>/<namespace>/<table>`
 * @param directories the directories of single tables, by the full table name `<namespace>.<table>`
 */
final case class OwnedLocations(prefixes: Vector[String], directories: Map[String, Vector[String]]) {

  /** Returns the directories of a single table. @param names the levels of the namespace and the table's name */
  def of(names: Vector[String]): Vector[String] = directories.getOrElse(names.mkString("."), Vector.empty)
}

object OwnedLocations {
  val Empty: OwnedLocations = OwnedLocations(Vector.empty, Map.empty)
}
