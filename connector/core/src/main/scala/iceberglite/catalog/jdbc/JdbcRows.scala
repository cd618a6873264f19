package iceberglite.catalog.jdbc

import iceberglite.spec.ObjectKind

/**
 * The kind of a row in `iceberg_tables`.
 *
 * @param condition the SQL condition for rows of this kind in schema version V1
 */
sealed abstract private[catalog] class RowKind(val objectKind: ObjectKind, val value: String, val condition: String) {

  /** The name of the kind in messages, such as `table`. */
  def noun: String = objectKind.noun
}

private[catalog] object RowKind {

  /** The kind of tables. Rows without a type are tables, because writers that use schema version V0 set no type. */
  case object Table extends RowKind(ObjectKind.Table, "TABLE", "(iceberg_type = 'TABLE' OR iceberg_type IS NULL)")
  case object View extends RowKind(ObjectKind.View, "VIEW", "iceberg_type = 'VIEW'")
  val all: Seq[RowKind] = Seq(Table, View)
}

/**
 * The rows of a catalog's tables and views. Unless stated otherwise, rows of other catalogs (column `catalog_name`) are
 * ignored. The methods evaluate `tables.schemaVersion`, because its first evaluation creates the catalog tables if they
 * are missing.
 */
final private[catalog] class JdbcRows(pool: JdbcPool, tables: JdbcTables, catalog: String) {
  import JdbcRows._
  import JdbcTables.Tables

  def canStoreViews: Boolean = tables.schemaVersion == JdbcSchemaVersion.V1

  private def conditionFor(kind: RowKind): String = if (canStoreViews) s" AND ${kind.condition}" else ""

  def location(kind: RowKind, namespace: String, name: String): Option[String] = pool.query(
    s"SELECT metadata_location FROM $Tables WHERE $ThisRow${conditionFor(kind)}",
    catalog,
    namespace,
    name
  )(row => Option(row.getString(1))).headOption.flatten

  /**
   * Inserts a row.
   *
   * @throws SQLException if a row with the name exists (an integrity violation), or if the insert fails for another
   *   reason
   */
  def insert(kind: RowKind, namespace: String, name: String, location: String): Int = {
    val (column, value) = if (canStoreViews) (", iceberg_type", s", '${kind.value}'") else ("", "")
    pool.update(
      s"INSERT INTO $Tables (catalog_name, table_namespace, table_name, metadata_location, " +
        s"previous_metadata_location$column) VALUES (?, ?, ?, ?, NULL$value)",
      catalog,
      namespace,
      name,
      location
    )
  }

  /** Updates the metadata location of a row. @return 0 if the current location is not `from` */
  def swap(kind: RowKind, namespace: String, name: String, from: String, to: String): Int = pool.update(
    s"UPDATE $Tables SET metadata_location = ?, previous_metadata_location = ? " +
      s"WHERE $ThisRow AND metadata_location = ?${conditionFor(kind)}",
    to,
    from,
    catalog,
    namespace,
    name,
    from
  )

  /**
   * Deletes a row.
   *
   * @param expectedLocation the metadata location that the row must have; `None` deletes a row with any location
   */
  def delete(kind: RowKind, namespace: String, name: String, expectedLocation: Option[String]): Int = {
    val locationCondition = expectedLocation.fold("")(_ => " AND metadata_location = ?")
    pool.update(
      s"DELETE FROM $Tables WHERE $ThisRow$locationCondition${conditionFor(kind)}",
      Vector(catalog, namespace, name) ++ expectedLocation: _*
    )
  }

  def rename(kind: RowKind, namespace: String, name: String, newNamespace: String, newName: String): Int =
    pool.update(
      s"UPDATE $Tables SET table_namespace = ?, table_name = ? WHERE $ThisRow${conditionFor(kind)}",
      newNamespace,
      newName,
      catalog,
      namespace,
      name
    )

  def names(kind: RowKind, namespace: String): Vector[String] = pool.query(
    s"SELECT table_name FROM $Tables WHERE catalog_name = ? AND table_namespace = ?${conditionFor(kind)}",
    catalog,
    namespace
  )(_.getString(1)).sorted

  /** Returns the tables and views of all catalogs in the database. */
  def all(): Vector[Row] = select("metadata_location IS NOT NULL")

  /** Returns the tables of all catalogs in the database. */
  def allTables(): Vector[Row] = select(s"metadata_location IS NOT NULL${conditionFor(RowKind.Table)}")

  /**
   * Returns the tables and views of all catalogs in the database whose current metadata file has the file name `name`.
   */
  def findByFileName(name: String): Vector[Row] = select("metadata_location LIKE ?", s"%/$name")

  private def select(condition: String, values: String*): Vector[Row] = {
    val _ = tables.schemaVersion
    pool.query(
      s"SELECT catalog_name, table_namespace, table_name, metadata_location FROM $Tables WHERE $condition",
      values: _*
    )(row => Row(row.getString(1), row.getString(2), row.getString(3), row.getString(4)))
  }

  /** Returns the namespaces with a table or a view. */
  def namespaces(): Vector[String] = {
    val _ = tables.schemaVersion
    pool.query(s"SELECT DISTINCT table_namespace FROM $Tables WHERE catalog_name = ?", catalog)(_.getString(1))
  }
}

private[catalog] object JdbcRows {

  /** A row. @param location the location of the newest metadata file */
  final case class Row(catalog: String, namespace: String, name: String, location: String)

  private val ThisRow = "catalog_name = ? AND table_namespace = ? AND table_name = ?"
}
