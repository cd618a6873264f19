package iceberglite.catalog.hive

import scala.collection.JavaConverters._

import org.apache.hadoop.hive.metastore.IMetaStoreClient
import org.apache.hadoop.hive.metastore.api.{EnvironmentContext, NoSuchObjectException, Table}
import org.apache.thrift.TException

import iceberglite.spec.IcebergError.StorageFailed
import iceberglite.table.TableIdentifier

/** Tables of the Metastore, whosever they are. Names are as the Metastore keeps them: their case does not count. */
final private[hive] class HiveObjects(connections: HiveConnections) {

  def find(id: TableIdentifier): Option[Table] =
    if (id.namespace.size != 1) None
    else asking(s"look for ${id.name}") { client =>
      try Some(client.getTable(id.namespace.head, id.name))
      catch { case _: NoSuchObjectException => None }
    }

  /** The names of those that are of a kind. The server's databases compare texts as long as these by `like` only. */
  def marked(database: String, kind: HiveKind[_]): Vector[String] = asking("list tables") {
    _.listTableNamesByFilter(
      database,
      s"""hive_filter_field_params__${HiveParameters.TypeKey} like "${kind.marker}"""",
      HiveObjects.NoLimit
    )
  }.asScala.toVector.sorted

  /** The names of all. */
  def names(database: String): Vector[String] = asking("list tables")(_.getAllTables(database)).asScala.toVector.sorted

  /** Where the tables of a database are, those of other formats too. */
  def places(database: String): Vector[HivePlace] = names(database).grouped(HiveObjects.AtOnce).flatMap { some =>
    asking("look for other tables")(_.getTableObjectsByName(database, some.asJava)).asScala.map { table =>
      HivePlace(
        TableIdentifier(Vector(table.getDbName), table.getTableName),
        Option(table.getSd).flatMap(storage => Option(storage.getLocation)).filter(_.nonEmpty),
        HiveKind.parameters(table).get(HiveParameters.LocationKey)
      )
    }
  }.toVector

  /** @throws TException as the server answers, or does not */
  def create(table: Table): Unit = connections.use(_.createTable(table))

  /**
   * Puts a table in the place of another, of the same name or not.
   *
   * @param expected a parameter's value that the server compares, if it can, with what is there
   * @throws TException as the server answers, or does not
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

  /** Takes it out of the Metastore; its files stay. @throws TException as the server answers, or does not */
  def drop(id: TableIdentifier): Unit = {
    val (deleteData, ignoreUnknown) = (false, false)
    connections.use(_.dropTable(id.namespace.head, id.name, deleteData, ignoreUnknown))
  }

  /** Calls that only ask. @throws StorageFailed */
  def asking[A](what: String)(call: IMetaStoreClient => A): A =
    try connections.repeating(call)
    catch { case failure: TException => throw HiveFailure.storage(what, connections.uri, failure) }

  def failed(what: String, failure: TException): StorageFailed = HiveFailure.storage(what, connections.uri, failure)
}

/** Where a table of the Metastore is. @param metadataLocation absent for a table of another format */
final private[catalog] case class HivePlace(
    id: TableIdentifier,
    directory: Option[String],
    metadataLocation: Option[String]
)

private[hive] object HiveObjects {
  private val AtOnce = 200
  private val NoLimit: Short = -1
}
