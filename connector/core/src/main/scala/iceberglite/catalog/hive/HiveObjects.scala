package iceberglite.catalog.hive

import scala.collection.JavaConverters._

import org.apache.hadoop.hive.metastore.IMetaStoreClient
import org.apache.hadoop.hive.metastore.api.{EnvironmentContext, NoSuchObjectException, Table}
import org.apache.thrift.TException

import iceberglite.spec.IcebergError.StorageFailed
import iceberglite.table.TableIdentifier

/** Reads and writes tables of all formats in the Metastore. The Metastore's names are case-insensitive. */
final private[hive] class HiveObjects(connections: HiveConnections) {

  def find(id: TableIdentifier): Option[Table] =
    if (id.namespace.size != 1) None
    else query(s"look for ${id.name}") { client =>
      try Some(client.getTable(id.namespace.head, id.name))
      catch { case _: NoSuchObjectException => None }
    }

  /**
   * Returns the names of the tables of one kind. The filter uses `like`, because some backend databases of the
   * Metastore do not support `=` for long text columns.
   */
  def namesOfKind(database: String, kind: HiveKind[_]): Vector[String] = query("list tables") {
    _.listTableNamesByFilter(
      database,
      s"""hive_filter_field_params__${HiveParameters.TypeKey} like "${kind.marker}"""",
      HiveObjects.NoLimit
    )
  }.asScala.toVector.sorted

  /** Returns the names of all tables in a database. */
  def names(database: String): Vector[String] = query("list tables")(_.getAllTables(database)).asScala.toVector.sorted

  /** Returns the locations of the tables of a database, including those of other formats. */
  def tableLocations(database: String): Vector[HiveTableLocation] =
    names(database).grouped(HiveObjects.BatchSize).flatMap { batch =>
      query("look for other tables")(_.getTableObjectsByName(database, batch.asJava)).asScala.map { table =>
        HiveTableLocation(
          TableIdentifier(Vector(table.getDbName), table.getTableName),
          Option(table.getSd).flatMap(storage => Option(storage.getLocation)).filter(_.nonEmpty),
          HiveKind.parameters(table).get(HiveParameters.LocationKey),
          HiveKind.IcebergTable.matches(table)
        )
      }
    }.toVector

  /** Creates a table. @throws TException if the server rejects the table or does not respond */
  def create(table: Table): Unit = connections.use(_.createTable(table))

  /**
   * Replaces a table, possibly with another name.
   *
   * @param expected the key and the expected value of a table parameter. A server that supports compare-and-swap
   *   rejects the change if the parameter has another value; other servers ignore this argument
   * @throws TException if the server rejects the change or does not respond
   */
  def alter(id: TableIdentifier, table: Table, expected: Option[(String, String)] = None): Unit = {
    val context = new EnvironmentContext
    context.putToProperties(HiveParameters.NoStatistics._1, HiveParameters.NoStatistics._2)
    expected.foreach { case (key, value) =>
      context.putToProperties("expected_parameter_key", key)
      context.putToProperties("expected_parameter_value", value)
    }
    connections.use(_.alter_table_with_environmentContext(id.namespace.head, id.name, table, context))
  }

  /**
   * Removes a table from the Metastore; its files are kept.
   *
   * @throws TException if the server rejects the drop or does not respond
   */
  def drop(id: TableIdentifier): Unit = {
    val (deleteData, ignoreUnknown) = (false, false)
    connections.use(_.dropTable(id.namespace.head, id.name, deleteData, ignoreUnknown))
  }

  /** Runs read-only calls. @throws StorageFailed if the call failed */
  def query[A](what: String)(call: IMetaStoreClient => A): A =
    try connections.withRetry(call)
    catch { case failure: TException => throw HiveFailure.toStorageFailed(what, connections.uri, failure) }

  def storageFailed(what: String, failure: TException): StorageFailed =
    HiveFailure.toStorageFailed(what, connections.uri, failure)
}

/**
 * The location of a table of the Metastore.
 *
 * @param isTable whether the table of the Metastore represents an Iceberg table, and not a view or a table of another
 *   format
 */
final private[catalog] case class HiveTableLocation(
    id: TableIdentifier,
    directory: Option[String],
    metadataLocation: Option[String],
    isTable: Boolean
)

private[hive] object HiveObjects {
  private val BatchSize = 200
  private val NoLimit: Short = -1
}
