package iceberglite.spark.maintenance

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.catalog.Identifier

import iceberglite.maintenance.{CloneOptions, CloneResult, CloneTable}
import iceberglite.spark.conf.EngineSummary
import iceberglite.spark.session.{CatalogNames, LiteCatalog}
import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.table.Table

/** Creates clones of tables in the catalogs of a session. */
private[iceberglite] object TableClones {

  /** Creates a clone; see [[iceberglite.maintenance.CloneTable]]. */
  def create(
      session: SparkSession,
      source: Table,
      catalog: LiteCatalog,
      ident: Identifier,
      options: CloneOptions
  ): CloneResult = {
    val result = CloneTable(source, options, EngineSummary.of(session))(catalog.stageTable(ident, _)) { _ =>
      catalog.dropTable(ident)
      ()
    }
    catalog.invalidateTable(ident)
    result
  }

  /**
   * Creates a clone.
   *
   * @param name the name of the new table in SQL; a name without a catalog refers to the current catalog
   * @throws InvalidArgument if the catalog does not have iceberg-lite tables
   */
  def create(session: SparkSession, source: Table, name: String, options: CloneOptions): CloneResult =
    CatalogNames.resolve(session, session.sessionState.sqlParser.parseMultipartIdentifier(name)) match {
      case (catalog: LiteCatalog, ident) => create(session, source, catalog, ident, options)
      case (other, _) =>
        throw InvalidArgument("name of the clone", name, s"The catalog ${other.name} has no iceberg-lite tables")
    }
}
