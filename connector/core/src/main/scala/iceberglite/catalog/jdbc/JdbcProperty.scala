package iceberglite.catalog.jdbc

import scala.util.Try

import iceberglite.catalog.CatalogProperty
import iceberglite.spec.IcebergError.InvalidArgument

/** The properties of a JDBC catalog; others that begin with `jdbc.` go to the database's driver. */
object JdbcProperty {
  val SchemaVersion: CatalogProperty = CatalogProperty(
    "jdbc.schema-version",
    None,
    "V1 adds the column iceberg_type, which views need, to catalog tables that were made without it; with V0 new " +
      "catalog tables are made without it"
  )
  val StrictMode: CatalogProperty =
    CatalogProperty("jdbc.strict-mode", Some("false"), "Whether a table can only be made in a namespace that exists")
  val InitTables: CatalogProperty =
    CatalogProperty("jdbc.init-catalog-tables", Some("true"), "Whether the catalog's own tables are made when missing")
  val Clients: CatalogProperty = CatalogProperty(
    "clients",
    Some("2"),
    "How many connections a catalog opens to its database at most; to SQLite it is always one"
  )
  val RetryableStates: CatalogProperty = CatalogProperty(
    "retryable_status_codes",
    None,
    "SQLSTATEs, with commas, that a database answers when it lost a connection, besides those of the standard"
  )

  val all: Seq[CatalogProperty] = Seq(SchemaVersion, StrictMode, InitTables, Clients, RetryableStates)

  /** What goes to the driver. */
  private[catalog] def ofDriver(properties: Map[String, String]): Map[String, String] =
    CatalogProperty.Jdbc.in(properties -- all.map(_.key))

  /** @param catalog the catalog's name, for the message */
  private[catalog] def flag(catalog: String, property: CatalogProperty, properties: Map[String, String]): Boolean =
    property.in(properties).orElse(property.default).exists { text =>
      Try(text.toBoolean).getOrElse(throw invalid(catalog, property, text, "It must be true or false"))
    }

  private[catalog] def clients(catalog: String, properties: Map[String, String]): Int = {
    val text = Clients.in(properties).orElse(Clients.default).getOrElse("1")
    Try(text.toInt).toOption.filter(_ > 0).getOrElse(
      throw invalid(catalog, Clients, text, "It must be a number above 0")
    )
  }

  /** Whether new catalog tables have the column `iceberg_type`, and whether old ones get it. */
  private[catalog] def layout(catalog: String, properties: Map[String, String]): Option[JdbcLayout] =
    SchemaVersion.in(properties).map { text =>
      JdbcLayout.all.find(_.toString.equalsIgnoreCase(text))
        .getOrElse(throw invalid(catalog, SchemaVersion, text, s"It must be ${JdbcLayout.all.mkString(" or ")}"))
    }

  private[catalog] def retryable(properties: Map[String, String]): Set[String] =
    RetryableStates.in(properties).toSet[String].flatMap(_.split(',')).map(_.trim).filter(_.nonEmpty)

  private def invalid(catalog: String, property: CatalogProperty, text: String, reason: String): InvalidArgument =
    InvalidArgument(s"${property.key} of catalog $catalog", text, reason)
}

/** Whether rows say what they are, a table or a view. */
sealed trait JdbcLayout
object JdbcLayout {
  case object V0 extends JdbcLayout
  case object V1 extends JdbcLayout
  val all: Seq[JdbcLayout] = Seq(V0, V1)
}
