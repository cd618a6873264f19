package iceberglite.catalog

import java.sql.SQLException

import scala.util.Try

import iceberglite.spec.IcebergError.NotFound

/**
 * The two tables in which PyIceberg's SqlCatalog and Apache Iceberg's JdbcCatalog keep what they know, and we too. Rows
 * of other catalogs, by `catalog_name`, are left alone.
 */
final private[catalog] class JdbcRows(session: JdbcSession, catalog: String, properties: Map[String, String]) {
  import JdbcRows._

  /** Whether rows say what they are, a table or a view: tables that old releases made have no such column. */
  private lazy val typed: Boolean = prepare()

  private def onlyTables: String = if (typed) " AND (iceberg_type = 'TABLE' OR iceberg_type IS NULL)" else ""

  def location(namespace: String, table: String): Option[String] =
    session.query(
      s"SELECT metadata_location FROM $Tables WHERE $ThisTable$onlyTables",
      catalog,
      namespace,
      table
    )(row => Option(row.getString(1))).headOption.flatten

  /** @return 1, or an integrity violation where the name is taken */
  def insert(namespace: String, table: String, location: String): Int = {
    val (column, value) = if (typed) (", iceberg_type", ", 'TABLE'") else ("", "")
    session.update(
      s"INSERT INTO $Tables (catalog_name, table_namespace, table_name, metadata_location, " +
        s"previous_metadata_location$column) VALUES (?, ?, ?, ?, NULL$value)",
      catalog,
      namespace,
      table,
      location
    )
  }

  /** @return 0 where the table is not at `from` any more */
  def swap(namespace: String, table: String, from: String, to: String): Int = session.update(
    s"UPDATE $Tables SET metadata_location = ?, previous_metadata_location = ? " +
      s"WHERE $ThisTable AND metadata_location = ?$onlyTables",
    to,
    from,
    catalog,
    namespace,
    table,
    from
  )

  def delete(namespace: String, table: String): Int =
    session.update(s"DELETE FROM $Tables WHERE $ThisTable$onlyTables", catalog, namespace, table)

  def rename(namespace: String, table: String, newNamespace: String, newTable: String): Int = session.update(
    s"UPDATE $Tables SET table_namespace = ?, table_name = ? WHERE $ThisTable$onlyTables",
    newNamespace,
    newTable,
    catalog,
    namespace,
    table
  )

  def tables(namespace: String): Vector[String] = session.query(
    s"SELECT table_name FROM $Tables WHERE catalog_name = ? AND table_namespace = ?$onlyTables",
    catalog,
    namespace
  )(_.getString(1)).sorted

  /** The namespaces that have a table, a view or a property. */
  def namespaces(): Vector[String] = {
    val _ = typed
    def distinct(column: String, table: String): Vector[String] =
      session.query(s"SELECT DISTINCT $column FROM $table WHERE catalog_name = ?", catalog)(_.getString(1))
    (distinct("table_namespace", Tables) ++ distinct("namespace", Namespaces)).distinct
  }

  def properties(namespace: String): Map[String, String] = {
    val _ = typed
    session.query(
      s"SELECT property_key, property_value FROM $Namespaces WHERE $ThisNamespace",
      catalog,
      namespace
    )(row => row.getString(1) -> Option(row.getString(2)).getOrElse("")).toMap
  }

  def setProperties(namespace: String, set: Map[String, String], remove: Set[String]): Unit = {
    val _ = typed
    session.atomically {
      (remove ++ set.keySet).foreach { key =>
        session.update(s"DELETE FROM $Namespaces WHERE $ThisNamespace AND property_key = ?", catalog, namespace, key)
      }
      set.foreach { case (key, value) =>
        session.update(
          s"INSERT INTO $Namespaces (catalog_name, namespace, property_key, property_value) VALUES (?, ?, ?, ?)",
          catalog,
          namespace,
          key,
          value
        )
      }
    }
  }

  def deleteProperties(namespace: String): Unit = {
    session.update(s"DELETE FROM $Namespaces WHERE $ThisNamespace", catalog, namespace)
    ()
  }

  /** Makes the tables that are missing. @return whether rows have a type */
  private def prepare(): Boolean = {
    val wanted = Seq(Tables -> CreateTables, Namespaces -> CreateNamespaces)
    wanted.filterNot(t => has(t._1, "catalog_name")).foreach { case (name, create) =>
      if (CatalogProperty.JdbcInitTables.in(properties).contains("false")) {
        val key = CatalogProperty.JdbcInitTables.key
        throw NotFound("table", name, s"Catalog $catalog has $key=false: make the table, or leave the property out")
      }
      makeIfMissing(name, create)
    }
    val upgrade = CatalogProperty.JdbcSchemaVersion.in(properties).exists(_.equalsIgnoreCase("V1"))
    if (upgrade && !has(Tables, "iceberg_type")) {
      session.update(s"ALTER TABLE $Tables ADD COLUMN iceberg_type VARCHAR(5)")
    }
    has(Tables, "iceberg_type")
  }

  /** Another process may make it at the same time. */
  private def makeIfMissing(table: String, create: String): Unit =
    try {
      session.update(create)
      ()
    } catch { case e: SQLException => if (!has(table, "catalog_name")) throw e }

  private def has(table: String, column: String): Boolean =
    try {
      session.query(s"SELECT $column FROM $table WHERE 1 = 0")(_ => ())
      true
    } catch { case _: SQLException => false }
}

private[catalog] object JdbcRows {
  private val Tables = "iceberg_tables"
  private val Namespaces = "iceberg_namespace_properties"
  private val ThisTable = "catalog_name = ? AND table_namespace = ? AND table_name = ?"
  private val ThisNamespace = "catalog_name = ? AND namespace = ?"

  private val CreateTables =
    s"CREATE TABLE $Tables (catalog_name VARCHAR(255) NOT NULL, table_namespace VARCHAR(255) NOT NULL, " +
      "table_name VARCHAR(255) NOT NULL, metadata_location VARCHAR(1000), previous_metadata_location VARCHAR(1000), " +
      "iceberg_type VARCHAR(5), PRIMARY KEY (catalog_name, table_namespace, table_name))"

  private val CreateNamespaces =
    s"CREATE TABLE $Namespaces (catalog_name VARCHAR(255) NOT NULL, namespace VARCHAR(255) NOT NULL, " +
      "property_key VARCHAR(255) NOT NULL, property_value VARCHAR(1000), " +
      "PRIMARY KEY (catalog_name, namespace, property_key))"

  /** SQLite's primary codes: its file is in use by another process, or a constraint does not hold. */
  private val SqliteBusy = Set(5, 6)
  private val SqliteConstraint = 19

  /** The database gave way to another transaction: nothing was done, and trying again may help. */
  def isBusy(e: SQLException): Boolean = isSqlite(e) && SqliteBusy(e.getErrorCode & 0xff) || stateOf(e).startsWith("40")

  def isDuplicate(e: SQLException): Boolean =
    isSqlite(e) && (e.getErrorCode & 0xff) == SqliteConstraint || stateOf(e).startsWith("23")

  private def isSqlite(e: SQLException): Boolean = e.getClass.getName.startsWith("org.sqlite.")

  private def stateOf(e: SQLException): String = Try(e.getSQLState).toOption.flatMap(Option(_)).getOrElse("")
}
