package iceberglite.catalog.jdbc

import iceberglite.catalog.CatalogProperty
import iceberglite.spec.property.Declarations

/** The properties of a JDBC catalog. Other properties that begin with `jdbc.` are passed to the JDBC driver. */
object JdbcProperty {
  private val declared = new Declarations[CatalogProperty]

  val SchemaVersion: CatalogProperty = declared(CatalogProperty(
    "jdbc.schema-version",
    None,
    "V1 adds the column iceberg_type, which views need, to catalog tables that lack it; V0 creates new catalog " +
      "tables without it"
  ))
  val StrictMode: CatalogProperty = declared(CatalogProperty(
    "jdbc.strict-mode",
    Some("false"),
    "Whether tables can only be created in namespaces that exist"
  ))
  val InitTables: CatalogProperty = declared(CatalogProperty(
    "jdbc.init-catalog-tables",
    Some("true"),
    "Whether missing catalog tables are created in the database"
  ))
  val RetryableStates: CatalogProperty = declared(CatalogProperty(
    "retryable_status_codes",
    None,
    "Comma-separated list of SQLSTATEs that indicate a lost connection, in addition to the standard SQLSTATEs"
  ))

  val all: Seq[CatalogProperty] = declared.all

  /** Returns the settings that are passed to the JDBC driver. */
  private[catalog] def ofDriver(properties: Map[String, String]): Map[String, String] =
    CatalogProperty.Jdbc.in(properties -- all.map(_.key))

  /**
   * Returns the configured schema version of the catalog tables (`jdbc.schema-version`); absent if none is configured.
   */
  private[catalog] def schemaVersion(catalog: String, properties: Map[String, String]): Option[JdbcSchemaVersion] =
    SchemaVersion.parse(catalog, properties, s"It must be ${JdbcSchemaVersion.all.mkString(" or ")}") { text =>
      JdbcSchemaVersion.all.find(_.toString.equalsIgnoreCase(text))
    }

  /** Returns the configured SQLSTATEs that indicate a lost connection, in addition to the standard SQLSTATEs. */
  private[catalog] def retryable(properties: Map[String, String]): Set[String] =
    RetryableStates.in(properties).toSet[String].flatMap(_.split(',')).map(_.trim).filter(_.nonEmpty)
}

/**
 * The schema version of the catalog tables (`jdbc.schema-version`). In version V1, `iceberg_tables` has the column
 * `iceberg_type`, which distinguishes tables and views. In version V0, all rows are tables.
 */
sealed trait JdbcSchemaVersion
object JdbcSchemaVersion {
  case object V0 extends JdbcSchemaVersion
  case object V1 extends JdbcSchemaVersion
  val all: Seq[JdbcSchemaVersion] = Seq(V0, V1)
}
