package iceberglite.spark

import org.apache.spark.sql.connector.catalog.{FunctionCatalog, Identifier, StagingTableCatalog, SupportsNamespaces}

import iceberglite.table.Table

/** A catalog of Spark that serves tables of ours, maybe beside others. */
trait LiteCatalog extends StagingTableCatalog with FunctionCatalog with SupportsNamespaces {

  /**
   * A table of ours by its name, for statements that change it. Commits through it are seen by the catalog's cache.
   *
   * @throws org.apache.spark.sql.catalyst.analysis.NoSuchTableException there is none
   */
  def liveTable(ident: Identifier): LiveTable

  /**
   * Takes a table in that stands in a metadata file.
   *
   * @throws org.apache.spark.sql.catalyst.analysis.TableAlreadyExistsException the name is taken
   */
  def registerTable(ident: Identifier, metadataFile: String): Table

  /** Whether a path is a valid table name. */
  def allowsPaths: Boolean

  /** Why a name cannot be that of a table in this catalog, and what to do instead. */
  def rejection(ident: Identifier): Option[String]

  /** The name of a table that the user may have meant by one that is not there. */
  def nearName(ident: Identifier): Option[String]
}
