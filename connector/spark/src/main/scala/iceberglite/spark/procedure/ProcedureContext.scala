package iceberglite.spark.procedure

import scala.util.Try

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.catalog.{CatalogPlugin, Identifier}

import iceberglite.spark.catalog.CachedPlans
import iceberglite.spark.conf.EngineSummary
import iceberglite.spark.session.{CatalogNames, LiteCatalog, SharedTable}
import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.metadata.TableMetadata
import iceberglite.table.{Action, Table}

/** The context of a procedure call: the session, and the catalog in the CALL statement. */
final class ProcedureContext(val session: SparkSession, val catalog: LiteCatalog) {

  /**
   * Resolves a table name in SQL; a name without a catalog refers to the catalog of the call.
   *
   * @throws InvalidArgument if the text is not a name, or names a table of another catalog
   */
  def identifier(table: String): Identifier = identifierIn(Parameter.table, table)

  private def identifierIn(parameter: Parameter[_], table: String): Identifier = {
    val (resolvedCatalog, ident) = resolve(parameter, table)
    if (resolvedCatalog.name != catalog.name) {
      val name = resolvedCatalog.name
      reject(parameter, table, s"The table is in the catalog $name; use CALL $name.system. ... instead")
    }
    ident
  }

  /**
   * Returns the current version of a table of any iceberg-lite catalog; a name without a catalog refers to the catalog
   * of the call.
   *
   * @param parameter the parameter whose argument is the table's name, for messages
   */
  def tableOfAnyCatalog(parameter: Parameter[String], table: String): Table = {
    resolve(parameter, table) match {
      case (other: LiteCatalog, ident) =>
        val shared = other.sharedTable(ident)
        shared.refresh()
        shared.current
      case (other, _) => reject(parameter, table, s"The catalog ${other.name} has no iceberg-lite tables")
    }
  }

  private def resolve(parameter: Parameter[_], table: String): (CatalogPlugin, Identifier) = {
    val parts = Try(session.sessionState.sqlParser.parseMultipartIdentifier(table)).getOrElse(
      reject(parameter, table, "It must be a table name in SQL, such as db.t")
    )
    CatalogNames.resolveIn(session, catalog, parts)
  }

  private def reject(parameter: Parameter[_], table: String, hint: String): Nothing =
    throw InvalidArgument(s"argument ${parameter.name}", table, hint)

  /** Returns the table after loading its current version. */
  def table(name: String): SharedTable = tableIn(Parameter.table, name)

  /**
   * Returns the table after loading its current version.
   *
   * @param parameter the parameter whose argument contains the name, for messages
   */
  def tableIn(parameter: Parameter[_], name: String): SharedTable = {
    val shared = catalog.sharedTable(identifierIn(parameter, name))
    shared.refresh()
    shared
  }

  /**
   * Changes a table by one action, and refreshes the cached plans that read the table.
   *
   * @return the table before and after the change
   */
  def change(name: String)(action: TableMetadata => Action): (Table, Table) = {
    val (before, after) = commit(name)(action)
    refreshCachedPlans(name, before, after)
    (before, after)
  }

  /**
   * Changes a table by one action. Afterwards, the caller must refresh the cached plans with [[refreshCachedPlans]]. If
   * the refresh fails, the change remains committed.
   *
   * @return the table before and after the change
   */
  def commit(name: String)(action: TableMetadata => Action): (Table, Table) = {
    val before = table(name).current
    (before, before.transaction(EngineSummary.of(session)).add(action(before.metadata)).commit())
  }

  def refreshCachedPlans(name: String, before: Table, after: Table): Unit =
    CachedPlans.refresh(session, catalog, identifier(name), before.metadata, after.metadata)
}
