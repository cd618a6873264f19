package iceberglite.catalog.jdbc

import java.sql.SQLException

/**
 * The properties of a catalog's namespaces. A namespace that was created explicitly has at least the marker property
 * [[JdbcNamespaces.Exists]]. Most methods evaluate `tables.schemaVersion`, because its first evaluation creates the
 * catalog tables if they are missing.
 */
final private[catalog] class JdbcNamespaces(pool: JdbcPool, tables: JdbcTables, catalog: String) {
  import JdbcNamespaces._
  import JdbcTables.Namespaces

  /** Returns the namespaces that have at least one property. */
  def all(): Vector[String] = {
    val _ = tables.schemaVersion
    pool.query(s"SELECT DISTINCT namespace FROM $Namespaces WHERE catalog_name = ?", catalog)(_.getString(1))
  }

  /** Returns the properties without the marker property. */
  def properties(namespace: String): Map[String, String] = storedProperties(namespace) - Exists._1

  private def storedProperties(namespace: String): Map[String, String] = {
    val _ = tables.schemaVersion
    pool.query(
      s"SELECT property_key, property_value FROM $Namespaces WHERE $ThisNamespace",
      catalog,
      namespace
    )(row => row.getString(1) -> Option(row.getString(2)).getOrElse("")).toMap
  }

  /**
   * Creates a namespace.
   *
   * @param isRetry whether the call is a retry. If so, an existing namespace with the same properties is assumed to be
   *   the result of the first attempt
   * @return false if another process has created the namespace
   */
  def create(namespace: String, properties: Map[String, String], isRetry: Boolean): Boolean = {
    val _ = tables.schemaVersion
    val requested = properties + Exists
    try {
      pool.inTransaction(statements => insert(statements, namespace, requested))
      true
    } catch { case e: SQLException if SqlState.isDuplicate(e) => isRetry && storedProperties(namespace) == requested }
  }

  def alter(namespace: String, set: Map[String, String], remove: Set[String]): Unit = {
    val _ = tables.schemaVersion
    pool.inTransaction { statements =>
      // The keys have the same order in all transactions, to avoid deadlocks.
      (remove ++ set.keySet - Exists._1).toVector.sorted.foreach { key =>
        statements.update(s"DELETE FROM $Namespaces WHERE $ThisNamespace AND property_key = ?", catalog, namespace, key)
      }
      insert(statements, namespace, set - Exists._1)
    }
  }

  private def insert(statements: JdbcStatements, namespace: String, properties: Map[String, String]): Unit =
    properties.toVector.sorted.foreach { case (key, value) =>
      statements.update(
        s"INSERT INTO $Namespaces (catalog_name, namespace, property_key, property_value) VALUES (?, ?, ?, ?)",
        catalog,
        namespace,
        key,
        value
      )
    }

  def delete(namespace: String): Unit = {
    pool.update(s"DELETE FROM $Namespaces WHERE $ThisNamespace", catalog, namespace)
    ()
  }
}

private[catalog] object JdbcNamespaces {

  /**
   * The marker property of a namespace that was created explicitly. It ensures that the database has a row for a
   * namespace without user properties.
   */
  val Exists: (String, String) = "exists" -> "true"

  private val ThisNamespace = "catalog_name = ? AND namespace = ?"
}
