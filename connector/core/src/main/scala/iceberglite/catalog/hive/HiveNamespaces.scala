package iceberglite.catalog.hive

import java.util.{Locale, HashMap => JavaMap}

import scala.collection.JavaConverters._

import org.apache.hadoop.hive.metastore.api._
import org.apache.hadoop.security.UserGroupInformation
import org.apache.thrift.TException

import iceberglite.spec.IcebergError.{AlreadyExists, InvalidArgument, NotFound, ValidationFailed}
import iceberglite.spec.ObjectKind
import iceberglite.storage.StoragePath
import iceberglite.table.TableLocations

/**
 * Reads and writes the Metastore's databases, which are namespaces with one level.
 *
 * @param catalog the name of the catalog, for messages
 * @param warehouse the parent of databases without an explicit location; if absent, the server chooses the location
 */
final private[catalog] class HiveNamespaces(
    connections: HiveConnections,
    objects: HiveObjects,
    catalog: String,
    warehouse: Option[String]
) {
  import HiveNamespaces._

  def all(): Vector[String] = objects.query("list namespaces")(_.getAllDatabases).asScala.toVector.sorted

  def properties(name: String): Option[Map[String, String]] = find(name).map { database =>
    val owner = Option(database.getOwnerName).filter(_.nonEmpty)
    val groupOrRole = Option(database.getOwnerType).filter(_ != PrincipalType.USER)
    Option(database.getParameters).fold(Map.empty[String, String])(_.asScala.toMap) ++
      Option(database.getLocationUri).map(Location -> _) ++
      Option(database.getDescription).filter(_.nonEmpty).map(Comment -> _) ++
      owner.map(Owner -> _) ++ groupOrRole.filter(_ => owner.isDefined).map(OwnerType -> _.name)
  }

  def exists(name: String): Boolean = find(name).isDefined

  /** Creates a database. @throws AlreadyExists if the database exists */
  def create(name: String, properties: Map[String, String]): Unit = convertingFailure(s"create the namespace $name") {
    def alreadyExists =
      AlreadyExists(ObjectKind.Namespace, s"$catalog.$name", "Use the existing namespace, or choose another name")
    val database = toDatabase(name, properties)
    try connections.use(_.createDatabase(database))
    catch {
      case _: AlreadyExistsException => throw alreadyExists
      case error: InvalidObjectException =>
        throw InvalidArgument("namespace", name, s"The Hive Metastore rejected the name: ${HiveFailure.text(error)}")
      case error: TException if HiveFailure.isConnectionLost(error) && find(name).isDefined => ()
    }
  }

  /** Updates the properties of a database. @throws NotFound if the database does not exist */
  def alter(name: String, set: Map[String, String], remove: Set[String]): Unit = {
    val current = properties(name).getOrElse(throw noNamespace(name))
    val ownerRemoved = remove.exists(key => key == Owner || key == IcebergOwner)
    val remaining = current -- remove -- (if (ownerRemoved) Seq(Owner, OwnerType) else Nil)
    val updated = if (set.contains(IcebergOwner)) remaining - Owner - OwnerType ++ set else remaining ++ set
    val database = toDatabase(name, updated)
    convertingFailure(s"change the namespace $name")(connections.withRetry(_.alterDatabase(name, database)))
  }

  /**
   * Drops a database.
   *
   * @return false if the database does not exist
   * @throws ValidationFailed if the database is not empty
   */
  def drop(name: String): Boolean = find(name).isDefined && {
    val tables = objects.names(name)
    def notEmpty(contents: String) =
      ValidationFailed(s"Cannot drop namespace $catalog.$name: it is not empty. It contains $contents")
    if (tables.nonEmpty) throw notEmpty(tables.mkString(", "))
    convertingFailure(s"drop the namespace $name") {
      try {
        val (deleteData, ignoreUnknown, cascade) = (false, false, false)
        connections.use(_.dropDatabase(name, deleteData, ignoreUnknown, cascade))
        true
      } catch {
        case _: NoSuchObjectException => false
        case _: InvalidOperationException => throw notEmpty("functions, or objects that were created concurrently")
        case error: TException if HiveFailure.isConnectionLost(error) && find(name).isEmpty => true
      }
    }
  }

  /**
   * Whether a database has its default location: in the catalog's warehouse or, if the catalog has no warehouse, in
   * that of the Metastore. The database `default` may also have the warehouse itself as its location. The case of the
   * directory's name is ignored: earlier versions of the connector created the directory of a database with the name as
   * it was written, but the Metastore stores the name in lower case.
   */
  def hasDefaultLocation(name: String, defaultFileSystem: String): Boolean = {
    def pathOf(location: String) = StoragePath.of(location, defaultFileSystem)
    val warehouseDirectory =
      warehouse.orElse(Some(objects.query("ask for the warehouse")(_.getConfigValue(WarehouseKey, "")))
        .filter(_.nonEmpty))
    val parent = warehouseDirectory.flatMap(pathOf)
    def isDefault(location: StoragePath) = parent.exists { w =>
      name.equalsIgnoreCase(Default) && location == w ||
      location.names.lastOption.exists(_.equalsIgnoreCase(s"$name.db")) && location.parent == w
    }
    find(name).flatMap(d => Option(d.getLocationUri)).flatMap(pathOf).exists(isDefault)
  }

  /**
   * Returns the directory in which the tables of a database are created.
   *
   * @throws NotFound if the database does not exist
   * @throws InvalidArgument if the database has no location and the catalog has no warehouse
   */
  def location(name: String): String =
    properties(name).getOrElse(throw noNamespace(name)).get(Location).orElse(inWarehouse(name)).getOrElse(
      throw InvalidArgument(
        "location of a table",
        "(not set)",
        s"The database $name has no location. Specify the table's location with LOCATION"
      )
    )

  def noNamespace(name: String): NotFound =
    NotFound(ObjectKind.Namespace, s"$catalog.$name", "List the namespaces with SHOW NAMESPACES")

  private def find(name: String): Option[Database] = objects.query("look for a namespace") { client =>
    try Some(client.getDatabase(name))
    catch { case _: NoSuchObjectException => None }
  }

  /**
   * Returns the default location of a database in the catalog's warehouse. The Metastore uses the same directory name:
   * the name of the database in lower case, with the suffix `.db`.
   */
  private def inWarehouse(name: String): Option[String] =
    warehouse.map(TableLocations.inside(_, s"${name.toLowerCase(Locale.ROOT)}.db"))

  private def toDatabase(name: String, properties: Map[String, String]): Database = {
    val owner = properties.get(IcebergOwner).orElse(properties.get(Owner))
    val database = new Database
    database.setName(name)
    database.setLocationUri(properties.get(Location).orElse(inWarehouse(name)).orNull)
    database.setDescription(properties.get(Comment).orNull)
    database.setOwnerName(owner.getOrElse(UserGroupInformation.getCurrentUser.getShortUserName))
    database.setOwnerType(ownerType(properties).getOrElse(PrincipalType.USER))
    database.setParameters(new JavaMap((properties -- ReservedKeys).asJava))
    database
  }

  private def ownerType(properties: Map[String, String]): Option[PrincipalType] =
    properties.get(OwnerType).map { text =>
      if (!properties.contains(IcebergOwner) && !properties.contains(Owner)) {
        throw InvalidArgument(OwnerType, text, s"It must be set together with $IcebergOwner")
      }
      PrincipalType.values.find(_.name.equalsIgnoreCase(text)).getOrElse(
        throw InvalidArgument(OwnerType, text, s"It must be one of ${PrincipalType.values.mkString(", ")}")
      )
    }

  private def convertingFailure[A](what: String)(body: => A): A =
    try body
    catch { case failure: TException => throw objects.storageFailed(what, failure) }
}

private[catalog] object HiveNamespaces {
  private val WarehouseKey = "hive.metastore.warehouse.dir"
  private val Default = "default"
  private val Location = "location"
  private val Comment = "comment"

  /** Spark's key for the owner of a namespace. */
  private val Owner = "owner"

  /** Apache Iceberg's key for the owner of a namespace. */
  private val IcebergOwner = "hive.metastore.database.owner"
  private val OwnerType = "hive.metastore.database.owner-type"
  private val ReservedKeys = Set(Location, Comment, Owner, IcebergOwner, OwnerType)
}
