package iceberglite.spark.session

import org.apache.spark.sql.connector.catalog.{FunctionCatalog, Identifier, StagingTableCatalog, SupportsNamespaces}

import iceberglite.table.{StagedTable, Table, TableCreation}

/** A Spark catalog with iceberg-lite tables, possibly next to other tables. */
trait LiteCatalog extends StagingTableCatalog with FunctionCatalog with SupportsNamespaces {

  /**
   * Returns an iceberg-lite table by its name, for statements that change it. The catalog sees commits that are made
   * with the returned object.
   *
   * @throws org.apache.spark.sql.catalyst.analysis.NoSuchTableException the table does not exist
   */
  def sharedTable(ident: Identifier): SharedTable

  /**
   * Registers a metadata file as a table.
   *
   * @throws org.apache.spark.sql.catalyst.analysis.TableAlreadyExistsException the name is taken
   */
  def registerTable(ident: Identifier, metadataFile: String): Table

  /** Whether there is an iceberg-lite table with this name. */
  def isIcebergTable(ident: Identifier): Boolean

  /**
   * Begins to create a table. The caller must invalidate the name with `invalidateTable` after the commit.
   *
   * @throws iceberglite.spec.IcebergError.AlreadyExists the name is taken
   */
  def stageTable(ident: Identifier, creation: TableCreation): StagedTable

  /** Whether a path is a valid table name. */
  def allowsPaths: Boolean

  /** Returns why a name cannot be a table in this catalog, and the alternative; absent for a valid name. */
  def rejection(ident: Identifier): Option[String]

  /** Returns the name of an existing table that is most similar to the name of a missing table. */
  def similarName(ident: Identifier): Option[String]
}
