package iceberglite.catalog.hive

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.hive.metastore.api.{InvalidOperationException, NoSuchObjectException, Table}
import org.apache.thrift.TException

import iceberglite.catalog.Pointer
import iceberglite.spec.Place
import iceberglite.spec.IcebergError.StorageFailed
import iceberglite.table.{Environment, TableIdentifier}

/** The operations on a Hive Metastore that a catalog needs. Only this package uses the Metastore's client library. */
final private[catalog] class Metastore private (
    connections: HiveConnections,
    objects: HiveObjects,
    access: HiveAccess,
    val namespaces: HiveNamespaces
) extends AutoCloseable {

  /** The address of the Metastore, for messages. */
  def uri: String = connections.uri

  def pointer[V](kind: HiveKind[V], id: TableIdentifier, name: String): Pointer[V] =
    new HivePointer(access, kind, id, name)

  def names(database: String): Vector[String] = objects.names(database)

  def namesOfKind(database: String, kind: HiveKind[_]): Vector[String] = objects.namesOfKind(database, kind)

  /** Returns the locations of all tables and views of all databases. */
  def tableLocations(): Vector[HiveTableLocation] = namespaces.all().flatMap(objects.tableLocations)

  /** Returns the kind of the object with this name, for messages; `None` if the name is free. */
  def otherKind(id: TableIdentifier): Option[String] = objects.find(id).map { table =>
    HiveKind.all.find(_.matches(table)).fold(s"${table.getTableType} of another format")(_.noun)
  }

  /** Checks that a name is free. @throws iceberglite.spec.IcebergError.AlreadyExists if an object has the name */
  def rejectExisting(id: TableIdentifier, name: String): Unit =
    objects.find(id).foreach(table => throw HivePointer.alreadyExists(table, name))

  /**
   * Removes a table or view from the Metastore; its files are kept.
   *
   * @return the location of the removed object's metadata file; `None` if there is no object of this kind
   */
  def drop(kind: HiveKind[_], id: TableIdentifier, name: String): Option[String] = withLock(kind, id, name, "drop") {
    objects.find(id).flatMap(kind.location).filter { _ =>
      try {
        objects.drop(id)
        true
      } catch {
        case _: NoSuchObjectException => false
        case error: TException if HiveFailure.isConnectionLost(error) && objects.find(id).isEmpty => true
      }
    }
  }

  /**
   * Renames a table or view; its files are not moved. The Metastore replaces the whole object, which would undo a
   * concurrent commit. Therefore the lock is acquired first, as for a commit. If the lock is disabled, the user must
   * prevent concurrent commits.
   *
   * @return false if there is no object of this kind
   * @throws iceberglite.spec.IcebergError.AlreadyExists if an object with the new name exists
   */
  def rename(kind: HiveKind[_], from: TableIdentifier, to: TableIdentifier, name: String, newName: String): Boolean =
    withLock(kind, from, name, "rename") {
      objects.find(from).filter(kind.location(_).isDefined).exists { table =>
        rejectExisting(to, newName)
        val renamed = table.deepCopy()
        renamed.setDbName(to.namespace.head)
        renamed.setTableName(to.name)
        try objects.alter(from, renamed)
        catch {
          case _: InvalidOperationException if objects.find(to).isDefined => rejectExisting(to, newName)
          case error: TException if HiveFailure.isConnectionLost(error) && hasMoved(kind, table, to) => ()
        }
        true
      }
    }

  override def close(): Unit = connections.close()

  private def hasMoved(kind: HiveKind[_], table: Table, to: TableIdentifier): Boolean =
    objects.find(to).flatMap(kind.location) == kind.location(table)

  private def withLock[A](kind: HiveKind[_], id: TableIdentifier, name: String, what: String)(body: => A): A =
    try {
      val found = objects.find(id).filter(kind.location(_).isDefined)
      val parameters = found.fold(Map.empty[String, String])(HiveKind.parameters)
      if (id.namespace.size != 1 || !access.requiresLock(kind, parameters)) body
      else access.locks.withLock(id.namespace.head, id.name, name)(_ => body)
        .fold(reason => throw StorageFailed("lock", Place.CatalogObject(name), reason), identity)
    } catch { case failure: TException => throw objects.storageFailed(s"$what $name", failure) }
}

private[catalog] object Metastore {

  /**
   * Opens a Metastore.
   *
   * @param catalog the name of the catalog, for messages
   * @param clients maximum number of open connections
   * @param idleMs time after which an unused connection is closed
   */
  def open(
      catalog: String,
      conf: Configuration,
      warehouse: Option[String],
      clients: Int,
      idleMs: Long,
      environment: Environment
  ): Metastore = {
    val settings = HiveSettings.of(conf)
    val connections = new HiveConnections(conf, clients, idleMs, environment)
    val objects = new HiveObjects(connections)
    val locks = new HiveLocks(connections, settings, environment)
    val access = HiveAccess(objects, locks, new SwapSupport(objects, connections.uri), settings, environment)
    new Metastore(connections, objects, access, new HiveNamespaces(connections, objects, catalog, warehouse))
  }
}
