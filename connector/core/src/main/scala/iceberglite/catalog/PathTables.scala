package iceberglite.catalog

import iceberglite.spec.IcebergError.{NotFound, Unsupported}
import iceberglite.spec.ObjectKind
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.property.TableProperty
import iceberglite.storage.{FileIO, MetadataFiles}
import iceberglite.table._

/**
 * Loads and commits tables that are identified by a path: the path of a directory that contains `metadata/`, or the
 * path of one metadata file. In the second case, the table can only be read. The identifier of each of these tables has
 * the path as its name, and no namespace.
 */
final class PathTables(io: FileIO, environment: Environment = Environment.system) extends Committer {

  /** Returns a table. @throws NotFound if there is no table at the path */
  def table(path: String): Table = {
    val id = PathTables.identifier(path)
    val version = load(id)
    Catalog.warnIfUnprotected(PathTables.Name, version.metadata)
    new Table(id, id.name, version, io, this)
  }

  def exists(path: String): Boolean = loadIfExists(PathTables.identifier(path).name).isDefined

  def create(path: String, creation: TableCreation): Table = stage(path, creation, StageMode.Create).commit()

  /** Begins to create or replace a table at a path; see [[Catalog.stage]]. */
  def stage(path: String, creation: TableCreation, mode: StageMode): StagedTable = {
    val id = PathTables.identifier(path)
    rejectMetadataFile(id)
    val location = creation.location.getOrElse(id.name)
    if (location != id.name) {
      throw Unsupported(
        s"the location $location for the table at ${id.name}",
        "The path is the table's location; omit LOCATION"
      )
    }
    StagedTable.begin(
      CommitTarget(id, id.name, io, this),
      new TableStart.Creation(creation.copy(location = None), mode, id.name, environment.uuid()),
      loadIfExists(id.name),
      environment
    )
  }

  /** Drops a table and deletes its files; see [[DropDirectory]]. @return false if the table does not exist */
  def drop(path: String, purge: Boolean): Boolean = {
    val id = PathTables.identifier(path)
    rejectMetadataFile(id)
    environment.cleanup.await()
    new DropDirectory(io, id.name, ownershipOf(id))(purge)
  }

  override def ownership(id: TableIdentifier, version: TableVersion): TableOwnership = ownershipOf(id)

  /**
   * Returns the locations that the table owns. The table has no name in a catalog, so the catalog property
   * `owned-locations` does not apply.
   */
  private def ownershipOf(id: TableIdentifier): TableOwnership =
    TableOwnership(Some(id.name), Vector(id.name), hasVersionNames = true)

  override def load(id: TableIdentifier): TableVersion = loadIfExists(id.name).getOrElse(
    throw NotFound(ObjectKind.Table, id.name, "The path has no metadata directory with *.metadata.json files")
  )

  override def commit(id: TableIdentifier, base: Option[TableVersion], change: Change): TableVersion = {
    rejectMetadataFile(id)
    val next = NextVersion.of(id.name, base, change, environment.nowMs())
    rejectLocationChange(id, base.map(_.metadata), next.metadata)
    new VersionedTable(io, id.name, id.name, environment).commit(base, next)
  }

  private def loadIfExists(path: String): Option[TableVersion] =
    if (MetadataFiles.version(path).isDefined) {
      if (io.exists(path)) Some(TableVersion(MetadataFiles.read(io, path), path)) else None
    } else if (io.info(path).exists(!_.isDirectory)) None // A file is not a table.
    else new VersionedTable(io, path, path).newest().orElse(newestOfCatalog(path))

  /**
   * Returns the version in the newest metadata file of a table in a catalog that stores a pointer to the current
   * metadata file. The pointer cannot be read here, but the newest file is probably the current file.
   */
  private def newestOfCatalog(path: String): Option[TableVersion] = {
    val files = io.list(TableLocations.inside(path, "metadata"))
      .flatMap(f => MetadataFiles.version(f.path).map(v => (v, f.modifiedMs, f.path)))
    if (files.isEmpty) None
    else {
      val newest = TableLocations.inside(TableLocations.inside(path, "metadata"), files.max._3.split('/').last)
      Some(TableVersion(MetadataFiles.read(io, newest), newest))
    }
  }

  private def rejectMetadataFile(id: TableIdentifier): Unit = if (MetadataFiles.version(id.name).isDefined) {
    throw Unsupported(
      s"changing a table by its metadata file ${id.name}",
      "A metadata file is a read-only version of a table; open the table by its directory or by its name in a catalog"
    )
  }

  private def rejectLocationChange(id: TableIdentifier, base: Option[TableMetadata], next: TableMetadata): Unit = {
    if (base.exists(_.location != next.location)) {
      throw Unsupported(
        s"the location ${next.location} for the table at ${id.name}",
        "The location of a table that is identified by its path cannot change"
      )
    }
    next.properties.get(TableProperty.MetadataPath.key).foreach { path =>
      throw Unsupported(
        s"${TableProperty.MetadataPath.key}=$path for the table at ${id.name}",
        "The metadata of a table that is identified by its path is always in this path. Remove the property"
      )
    }
  }
}

object PathTables {

  /** The name of the catalog of tables by path, for messages. */
  private val Name = "of tables by path"

  /** Returns the identifier of the table at a path. */
  def identifier(path: String): TableIdentifier = TableIdentifier(Vector.empty, Warehouse.of(path))
}
