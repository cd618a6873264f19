package iceberglite.catalog

import iceberglite.catalog.HadoopCatalog.MaxShownNames
import iceberglite.spec.IcebergError.{AlreadyExists, InvalidArgument, NotFound, Unsupported, ValidationFailed}
import iceberglite.spec.ObjectKind
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.property.TableProperty
import iceberglite.spec.update.MetadataUpdate.SetLocation
import iceberglite.storage.FileIO
import iceberglite.table._

/**
 * A catalog of tables and views in directories below a warehouse directory. A table or view is a directory whose
 * subdirectory `metadata` contains metadata files. Other directories are namespaces. The file system must support
 * exclusive creation of files.
 *
 * @param warehouse the warehouse directory, without a trailing slash
 */
final class HadoopCatalog(
    val name: String,
    val properties: Map[String, String],
    warehouse: String,
    val io: FileIO,
    protected val environment: Environment = Environment.system
) extends ViewCatalog {
  private val locations = CatalogProperty.ownedLocations(properties)

  override def allowsPaths: Boolean = true

  override def listNamespaces(parent: Vector[String]): Vector[Vector[String]] = {
    requireNamespace(parent)
    directories(parent).filterNot(d => isTable(d._2) || isView(d._2)).map(d => parent :+ d._1)
  }

  override def namespaceExists(namespace: Vector[String]): Boolean = {
    val directory = directoryOf(namespace)
    io.info(directory).exists(_.isDirectory) && !isTable(directory) && !isView(directory)
  }

  override def loadNamespace(namespace: Vector[String]): Map[String, String] = {
    requireNamespace(namespace)
    Map("location" -> directoryOf(namespace))
  }

  override def createNamespace(namespace: Vector[String], properties: Map[String, String]): Unit = {
    // Spark sets the property `owner` of every new namespace, so this property is ignored.
    val userProperties = properties - "owner"
    if (userProperties.nonEmpty) throw noProperties(namespace, userProperties.keySet)
    val directory = directoryOf(namespace)
    if (io.exists(directory)) {
      throw AlreadyExists(
        ObjectKind.Namespace,
        fullName(namespace),
        "Use the existing namespace, or choose another name"
      )
    }
    Warehouse.using(warehouse)(io.makeDirectory(directory))
  }

  override def alterNamespace(namespace: Vector[String], set: Map[String, String], remove: Set[String]): Unit = {
    requireNamespace(namespace)
    throw noProperties(namespace, set.keySet ++ remove)
  }

  override def dropNamespace(namespace: Vector[String]): Boolean =
    if (namespace.isEmpty || !namespaceExists(namespace)) false
    else {
      val directory = directoryOf(namespace)
      // Any file in the directory, even a hidden file, prevents the drop, because the file may belong to a table of
      // another catalog.
      val contents = io.list(directory).map(file => nameOf(file.path)).sorted
      if (contents.nonEmpty) {
        val (shown, more) = contents.splitAt(MaxShownNames)
        throw ValidationFailed(
          s"Cannot drop namespace ${fullName(namespace)}: its directory $directory is not empty. It contains " +
            shown.mkString(", ") + (if (more.isEmpty) "" else s" and ${more.size} more")
        )
      }
      io.deleteEmptyDirectory(directory)
      true
    }

  override def listTables(namespace: Vector[String]): Vector[TableIdentifier] = {
    requireNamespace(namespace)
    directories(namespace).filter(d => isTable(d._2)).map(d => TableIdentifier(namespace, d._1))
  }

  override def tableExists(id: TableIdentifier): Boolean = isTable(defaultLocation(id))

  override def load(id: TableIdentifier): TableVersion = loadIfExists(id).getOrElse(throw notFound(id))

  override def reload(id: TableIdentifier, known: TableVersion): TableVersion =
    Warehouse.using(warehouse)(versions(id).reload(known)).getOrElse(throw notFound(id))

  private def notFound(id: TableIdentifier): NotFound = NotFound(
    ObjectKind.Table,
    fullName(id),
    s"There is no metadata in ${defaultLocation(id)}. Check the name with SHOW TABLES"
  )

  override protected def loadIfExists(id: TableIdentifier): Option[TableVersion] =
    Warehouse.using(warehouse)(versions(id).newest())

  override def commit(id: TableIdentifier, base: Option[TableVersion], change: Change): TableVersion = {
    val next = NextVersion.of(fullName(id), base, change, environment.nowMs())
    rejectLocationChange(id, base.map(_.metadata), next.metadata)
    if (base.isEmpty) Warehouse.using(warehouse)(versions(id).commit(base, next)) else versions(id).commit(base, next)
  }

  /**
   * Drops a table and deletes its files, even without PURGE. If only the metadata files were deleted, the catalog would
   * list the table's directory as a namespace.
   */
  override def drop(id: TableIdentifier, purge: Boolean): Boolean = {
    environment.cleanup.await()
    new DropDirectory(io, fullName(id), ownershipOf(id))(purge)
  }

  override def rename(from: TableIdentifier, to: TableIdentifier): Unit = throw Unsupported(
    s"renaming ${fullName(from)} to $to",
    "In a file-system catalog, the directory determines the name of a table. Create a new table from the old table, " +
      "or use a JDBC catalog"
  )

  override def register(id: TableIdentifier, metadataFile: String): Table = throw Unsupported(
    s"registering $metadataFile as ${fullName(id)}",
    "In a file-system catalog, the directory determines the table. Open the table by its path, or use a JDBC catalog"
  )

  override def defaultLocation(id: TableIdentifier): String =
    TableLocations.inside(directoryOf(id.namespace), checkName("table name", id.name))

  override def ownership(id: TableIdentifier, version: TableVersion): TableOwnership = ownershipOf(id)

  private def ownershipOf(id: TableIdentifier): TableOwnership =
    TableOwnership(Some(defaultLocation(id)), id.namespace :+ id.name, locations, hasVersionNames = true)

  /**
   * Rejects a location other than the table's directory, and the property `write.metadata.path`, because this catalog
   * finds the metadata of a table only in the directory with the table's name.
   */
  private def rejectLocationChange(id: TableIdentifier, base: Option[TableMetadata], next: TableMetadata): Unit = {
    val expected = base.fold(defaultLocation(id))(_.location)
    if (next.location != expected) throw Unsupported(
      s"the location ${next.location} for ${fullName(id)}",
      s"In a file-system catalog, the location can only be $expected. Omit LOCATION, or use a JDBC catalog"
    )
    next.properties.get(TableProperty.MetadataPath.key).foreach { path =>
      throw Unsupported(
        s"${TableProperty.MetadataPath.key}=$path for ${fullName(id)}",
        "In a file-system catalog, metadata is always in the table's location. Remove the property"
      )
    }
  }

  override def listViews(namespace: Vector[String]): Vector[TableIdentifier] = {
    requireNamespace(namespace)
    directories(namespace).filter(d => isView(d._2)).map(d => TableIdentifier(namespace, d._1))
  }

  override def viewExists(id: TableIdentifier): Boolean = viewFiles(id).exists

  override def loadView(id: TableIdentifier): ViewState = Warehouse.using(warehouse)(viewFiles(id).newest()).getOrElse(
    throw NotFound(ObjectKind.View, fullName(id), s"There is no view metadata in ${defaultLocation(id)}")
  )

  override def commitView(id: TableIdentifier, base: Option[ViewState], change: ViewChange): ViewState = {
    change.updates.collect { case SetLocation(location) => location }.find(_ != defaultLocation(id)).foreach { other =>
      throw Unsupported(
        s"the location $other for ${fullName(id)}",
        s"In a file-system catalog, the location of a view can only be ${defaultLocation(id)}. Omit the location"
      )
    }
    Warehouse.using(warehouse)(viewFiles(id).commit(base, change))
  }

  override def registerView(id: TableIdentifier, metadataFile: String): ViewState = throw Unsupported(
    s"registering $metadataFile as ${fullName(id)}",
    "In a file-system catalog, the directory determines the view. Create a view with the same query, or use a jdbc, " +
      "rest or hive catalog"
  )

  override def dropView(id: TableIdentifier): Boolean = viewFiles(id).drop()

  override def renameView(from: TableIdentifier, to: TableIdentifier): Unit = throw Unsupported(
    s"renaming ${fullName(from)} to $to",
    "In a file-system catalog, the directory determines the name of a view. Create a new view with the same query, " +
      "and drop the old view"
  )

  private def viewFiles(id: TableIdentifier): HadoopViewFiles =
    new HadoopViewFiles(io, defaultLocation(id), fullName(id), environment, () => tableExists(id))

  private def isView(directory: String): Boolean =
    new HadoopViewFiles(io, directory, directory, environment, () => false).exists

  private def versions(id: TableIdentifier): VersionedTable =
    new VersionedTable(io, defaultLocation(id), fullName(id), environment, () => viewExists(id))

  private def isTable(directory: String): Boolean = new VersionedTable(io, directory, directory).exists

  /** Returns the names and paths of the directories in a namespace, sorted by name. Hidden directories are omitted. */
  private def directories(namespace: Vector[String]): Vector[(String, String)] = {
    val directory = directoryOf(namespace)
    val names = io.list(directory).filter(_.isDirectory).map(file => nameOf(file.path))
    names.filterNot(_.startsWith(".")).sorted.map(n => n -> TableLocations.inside(directory, n))
  }

  private def nameOf(path: String): String = path.stripSuffix("/").split('/').last

  private def directoryOf(namespace: Vector[String]): String =
    namespace.foldLeft(warehouse)((directory, level) => TableLocations.inside(directory, checkName("namespace", level)))

  /**
   * Checks that a namespace level or a table name is usable as the name of a directory. The name must not refer to
   * another directory. It must also not begin with a dot, because listings omit hidden directories.
   */
  private def checkName(kind: String, part: String): String =
    if (part.isEmpty || part.startsWith(".") || part.exists(c => c == '/' || c < ' ')) {
      throw InvalidArgument(
        kind,
        s"'$part'",
        "In a file-system catalog, the name is also a directory name. It must not be empty, contain a slash or " +
          "control characters, or start with a dot"
      )
    } else part

  private def requireNamespace(namespace: Vector[String]): Unit =
    if (namespace.nonEmpty && !namespaceExists(namespace)) {
      throw NotFound(
        ObjectKind.Namespace,
        fullName(namespace),
        s"There is no directory ${directoryOf(namespace)}. Create the namespace, or check the name"
      )
    }

  private def noProperties(namespace: Vector[String], keys: Set[String]): Unsupported = Unsupported(
    s"namespace properties in a file-system catalog: ${keys.toVector.sorted.mkString(", ")} of ${fullName(namespace)}",
    "Remove the properties, or use a JDBC catalog"
  )

  private def fullName(namespace: Vector[String]): String = (name +: namespace).mkString(".")
}

object HadoopCatalog extends CatalogFamily {

  /** The maximum number of files and directories that an error message lists. */
  private val MaxShownNames = 5

  override val catalogType: String = "hadoop"

  override def open(
      name: String,
      properties: Map[String, String],
      io: FileIO,
      environment: Environment
  ): Catalog = {
    val warehouse = CatalogProperty.Warehouse.require(name, properties, "file:///tmp/warehouse")
    new HadoopCatalog(name, properties, Warehouse.of(warehouse), io, environment)
  }
}
