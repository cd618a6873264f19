package iceberglite.catalog.jdbc

import java.sql.SQLException

import iceberglite.spec.IcebergError.NotFound
import iceberglite.spec.ObjectKind

/**
 * The two catalog tables in the database, with the same names and columns as in PyIceberg's SqlCatalog and Apache
 * Iceberg's JdbcCatalog.
 *
 * @param createMissing whether missing tables are created; if not, a missing table is an error
 * @param requested the schema version that the user configured; `None` keeps the schema version of existing tables, and
 *   creates new tables with version V1
 */
final private[catalog] class JdbcTables(
    pool: JdbcPool,
    catalog: String,
    createMissing: Boolean,
    requested: Option[JdbcSchemaVersion]
) {
  import JdbcTables._

  /**
   * The schema version of the catalog tables. The first evaluation creates missing tables, and adds the column
   * `iceberg_type` to an existing table if the user configured version V1.
   */
  lazy val schemaVersion: JdbcSchemaVersion = {
    val columns = if (requested.contains(JdbcSchemaVersion.V0)) CreateTables else s"$CreateTables$TypeColumn, "
    val missing = Seq(Tables -> s"$columns$TablesKey", Namespaces -> CreateNamespaces)
    missing.filterNot(t => columnExists(t._1, "catalog_name")).foreach { case (name, create) =>
      createTable(name, create)
    }
    if (requested.contains(JdbcSchemaVersion.V1) && !columnExists(Tables, "iceberg_type")) {
      createUnlessExists(Tables, "iceberg_type")(s"ALTER TABLE $Tables ADD COLUMN $TypeColumn")
    }
    if (columnExists(Tables, "iceberg_type")) JdbcSchemaVersion.V1 else JdbcSchemaVersion.V0
  }

  private def createTable(table: String, create: String): Unit = {
    if (!createMissing) {
      val key = JdbcProperty.InitTables.key
      throw NotFound(
        ObjectKind.Table,
        table,
        s"Catalog $catalog does not create it, because $key is false. Create the table, or remove the property"
      )
    }
    createUnlessExists(table, "catalog_name")(create)
  }

  /** Creates a table or column. Ignores the failure if another process created it concurrently. */
  private def createUnlessExists(table: String, column: String)(statement: String): Unit =
    try {
      pool.update(statement)
      ()
    } catch { case e: SQLException => if (!columnExists(table, column)) throw e }

  private def columnExists(table: String, column: String): Boolean =
    try {
      pool.query(s"SELECT $column FROM $table WHERE 1 = 0")(_ => ())
      true
    } catch { case e: SQLException if SqlState.isMissing(e) => false }
}

private[catalog] object JdbcTables {
  val Tables = "iceberg_tables"
  val Namespaces = "iceberg_namespace_properties"

  /** The maximum length of names, in characters. */
  val MaxName = 255

  private val TypeColumn = "iceberg_type VARCHAR(5)"

  private val CreateTables =
    s"CREATE TABLE $Tables (catalog_name VARCHAR(255) NOT NULL, table_namespace VARCHAR(255) NOT NULL, " +
      "table_name VARCHAR(255) NOT NULL, metadata_location VARCHAR(1000), previous_metadata_location VARCHAR(1000), "

  private val TablesKey = "PRIMARY KEY (catalog_name, table_namespace, table_name))"

  private val CreateNamespaces =
    s"CREATE TABLE $Namespaces (catalog_name VARCHAR(255) NOT NULL, namespace VARCHAR(255) NOT NULL, " +
      "property_key VARCHAR(255) NOT NULL, property_value VARCHAR(1000), " +
      "PRIMARY KEY (catalog_name, namespace, property_key))"
}
