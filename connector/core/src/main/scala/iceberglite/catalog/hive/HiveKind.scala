package iceberglite.catalog.hive

import java.util.{Collections, HashMap => JavaMap}

import scala.collection.JavaConverters._

import org.apache.hadoop.hive.metastore.TableType
import org.apache.hadoop.hive.metastore.api.Table
import org.apache.hadoop.security.UserGroupInformation

import iceberglite.spec.ObjectKind
import iceberglite.spec.view.ViewRepresentation
import iceberglite.table.{TableIdentifier, TableVersion, ViewState}

/** A kind of Iceberg object in the Metastore (table or view), and its representation as a table of the Metastore. */
sealed private[catalog] trait HiveKind[V] {

  /** The kind of object in error messages. */
  def objectKind: ObjectKind

  /** The name of the kind in messages, such as `table`. */
  def noun: String = objectKind.noun

  /** The value of the Metastore table's parameter `table_type`. */
  def marker: String

  /** Whether a table of the Metastore represents an object of this kind. */
  def matches(table: Table): Boolean
  def locationOf(state: V): String
  def properties(state: V): Map[String, String]

  /**
   * Creates the table of the Metastore that represents a new object, without the values that `update` sets.
   *
   * @param seconds creation time in seconds since 1970
   */
  def newTable(id: TableIdentifier, state: V, seconds: Int): Table

  /** Updates the table of the Metastore so that it represents the next state of the object. */
  def update(table: Table, base: Option[V], next: V, settings: HiveSettings): Unit

  /** Returns the location of the newest metadata file; `None` for a table of another kind. */
  final def location(table: Table): Option[String] =
    if (matches(table)) HiveKind.parameters(table).get(HiveParameters.LocationKey) else None
}

private[catalog] object HiveKind {

  case object IcebergTable extends HiveKind[TableVersion] {
    override val objectKind = ObjectKind.Table
    override val marker = "ICEBERG"
    override def matches(table: Table): Boolean = hasMarker(table, marker)
    override def locationOf(state: TableVersion): String = state.metadataLocation
    override def properties(state: TableVersion): Map[String, String] = state.metadata.properties

    override def newTable(id: TableIdentifier, state: TableVersion, seconds: Int): Table = {
      val table = newHiveTable(id, properties(state), seconds, TableType.EXTERNAL_TABLE)
      // Hive treats a table as external only if it has this parameter, regardless of the table type.
      table.putToParameters("EXTERNAL", "TRUE")
      table
    }

    override def update(
        table: Table,
        base: Option[TableVersion],
        next: TableVersion,
        settings: HiveSettings
    ): Unit = {
      val engine = HiveParameters.isHiveEnabled(properties(next), settings)
      table.setSd(HiveColumns.storage(next.metadata.schema, next.metadata.location, engine))
      table.setParameters(asJava(HiveParameters.ofTable(parameters(table), base, next, settings)))
    }
  }

  case object IcebergView extends HiveKind[ViewState] {
    override val objectKind = ObjectKind.View
    override val marker = "ICEBERG-VIEW"

    override def matches(table: Table): Boolean =
      hasMarker(table, marker) && TableType.VIRTUAL_VIEW.name.equalsIgnoreCase(table.getTableType)

    override def locationOf(state: ViewState): String = state.metadataLocation
    override def properties(state: ViewState): Map[String, String] = state.metadata.properties

    override def newTable(id: TableIdentifier, state: ViewState, seconds: Int): Table =
      newHiveTable(id, properties(state), seconds, TableType.VIRTUAL_VIEW)

    override def update(table: Table, base: Option[ViewState], next: ViewState, settings: HiveSettings): Unit = {
      val view = next.metadata
      table.setSd(HiveColumns.storage(view.schema, view.location, engine = false))
      table.setParameters(asJava(HiveParameters.ofView(parameters(table), base, next, settings)))
      query(next).foreach { sql =>
        table.setViewOriginalText(sql)
        table.setViewExpandedText(sql)
      }
    }

    /**
     * Returns the view's SQL text that is shown to users of the Metastore: the text in Hive's dialect or, if the view
     * has no text in this dialect, the text in its first dialect.
     */
    private def query(state: ViewState): Option[String] = {
      val version = state.metadata.currentVersion
      def first = version.representations.collectFirst { case ViewRepresentation.Sql(sql, _) => sql }
      version.sql("hive").orElse(first)
    }
  }

  val all: Seq[HiveKind[_]] = Seq(IcebergTable, IcebergView)

  def parameters(table: Table): Map[String, String] =
    Option(table.getParameters).fold(Map.empty[String, String])(_.asScala.toMap)

  private def hasMarker(table: Table, marker: String): Boolean =
    parameters(table).get(HiveParameters.TypeKey).exists(_.equalsIgnoreCase(marker))

  private def asJava(parameters: Map[String, String]): JavaMap[String, String] = new JavaMap(parameters.asJava)

  private def newHiveTable(
      id: TableIdentifier,
      properties: Map[String, String],
      seconds: Int,
      kind: TableType
  ): Table = {
    val table = new Table
    table.setDbName(id.namespace.head)
    table.setTableName(id.name)
    table.setOwner(properties.getOrElse(HiveParameters.OwnerKey, UserGroupInformation.getCurrentUser.getShortUserName))
    table.setCreateTime(seconds)
    table.setLastAccessTime(seconds)
    table.setRetention(Int.MaxValue)
    table.setPartitionKeys(Collections.emptyList())
    table.setParameters(new JavaMap)
    table.setTableType(kind.name)
    table
  }
}
