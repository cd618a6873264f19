package iceberglite.spark.session

import org.apache.spark.sql.connector.catalog.{FunctionCatalog, Identifier, StagingTableCatalog, SupportsNamespaces}

import iceberglite.catalog.ViewCatalog
import iceberglite.table.{StagedTable, Table, TableChange, TableCreation}

/** A Spark catalog with iceberg-lite tables, possibly next to other tables. */
trait LiteCatalog extends StagingTableCatalog with FunctionCatalog with SupportsNamespaces {

  /**
   * Returns the iceberg-lite table with the given name, for statements that change the table. The catalog sees commits
   * that are made with the returned object.
   *
   * @throws org.apache.spark.sql.catalyst.analysis.NoSuchTableException if the table does not exist
   */
  def sharedTable(ident: Identifier): SharedTable

  /**
   * Registers a metadata file as a table.
   *
   * @throws org.apache.spark.sql.catalyst.analysis.TableAlreadyExistsException if the name is taken
   */
  def registerTable(ident: Identifier, metadataFile: String): Table

  /** Whether an iceberg-lite table with this name exists. */
  def isIcebergTable(ident: Identifier): Boolean

  /**
   * Begins to create a table. The caller must invalidate the name with `invalidateTable` after the commit.
   *
   * @throws iceberglite.spec.IcebergError.AlreadyExists if the name is taken
   */
  def stageTable(ident: Identifier, creation: TableCreation): StagedTable

  /** Commits changes to several tables in one step; see [[iceberglite.catalog.Catalog.commitAll]]. */
  def commitAll(changes: Vector[TableChange]): Unit

  /** Returns the catalog of the views; absent if the type of the catalog does not support views. */
  def viewCatalog: Option[ViewCatalog]

  /** Whether a path is a valid table name. */
  def allowsPaths: Boolean

  /** Returns the reason why a name cannot be a table in this catalog, with an alternative; absent for a valid name. */
  def rejection(ident: Identifier): Option[String]

  /**
   * Returns the name of the existing table or metadata table that is most similar to the name of a missing table;
   * absent if none is similar.
   */
  def similarName(ident: Identifier): Option[String]
}
