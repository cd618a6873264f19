package iceberglite.catalog.jdbc

import iceberglite.catalog.CatalogProperty

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
  val RetryableStates: CatalogProperty = CatalogProperty(
    "retryable_status_codes",
    None,
    "SQLSTATEs, with commas, that a database answers when it lost a connection, besides those of the standard"
  )

  val all: Seq[CatalogProperty] = Seq(SchemaVersion, StrictMode, InitTables, RetryableStates)

  /** What goes to the driver. */
  private[catalog] def ofDriver(properties: Map[String, String]): Map[String, String] =
    CatalogProperty.Jdbc.in(properties -- all.map(_.key))

  /** Whether new catalog tables have the column `iceberg_type`, and whether old ones get it. */
  private[catalog] def layout(catalog: String, properties: Map[String, String]): Option[JdbcLayout] =
    SchemaVersion.parsed(catalog, properties, s"It must be ${JdbcLayout.all.mkString(" or ")}") { text =>
      JdbcLayout.all.find(_.toString.equalsIgnoreCase(text))
    }

  private[catalog] def retryable(properties: Map[String, String]): Set[String] =
    RetryableStates.in(properties).toSet[String].flatMap(_.split(',')).map(_.trim).filter(_.nonEmpty)
}

/** Whether rows say what they are, a table or a view. */
sealed trait JdbcLayout
object JdbcLayout {
  case object V0 extends JdbcLayout
  case object V1 extends JdbcLayout
  val all: Seq[JdbcLayout] = Seq(V0, V1)
}
