package iceberglite.catalog

import iceberglite.spec.IcebergError.Unsupported
import iceberglite.table.{TableIdentifier, ViewChange, ViewState}

/** A catalog that supports views (Iceberg view specification). A table and a view cannot have the same name. */
trait ViewCatalog extends Catalog {

  /**
   * Returns the views of a namespace.
   *
   * @throws iceberglite.spec.IcebergError.NotFound if the namespace does not exist
   */
  def listViews(namespace: Vector[String]): Vector[TableIdentifier]

  /** Whether the catalog can store views. A JDBC catalog of schema version V0 or a REST server may not. */
  def canStoreViews: Boolean = true

  /**
   * Returns the views of a namespace. There are none if the catalog cannot store views.
   *
   * @throws iceberglite.spec.IcebergError.NotFound if the namespace does not exist
   */
  final def listViewsIfSupported(namespace: Vector[String]): Vector[TableIdentifier] =
    try listViews(namespace)
    catch { case _: Unsupported => Vector.empty }

  /** Returns the location of a new view for which the user specifies no location; absent if a server determines it. */
  def defaultViewLocation(id: TableIdentifier): Option[String] = Some(defaultLocation(id))

  def viewExists(id: TableIdentifier): Boolean

  /** Returns the view's newest state. @throws iceberglite.spec.IcebergError.NotFound if the view does not exist */
  def loadView(id: TableIdentifier): ViewState

  /**
   * Applies a change to a view if the view's newest state is still `base`. If `base` is `None`, creates the view.
   *
   * @throws iceberglite.spec.IcebergError.AlreadyExists if a table or view with the name exists
   * @throws iceberglite.spec.IcebergError.CommitConflict if another change was committed first; the given change then
   *   has no effect
   * @throws iceberglite.spec.IcebergError.CommitStateUnknown if the outcome is unknown; no file is deleted
   */
  def commitView(id: TableIdentifier, base: Option[ViewState], change: ViewChange): ViewState

  /**
   * Registers an existing metadata file as a view. The file is not deleted if the registration fails.
   *
   * @throws iceberglite.spec.IcebergError.AlreadyExists if a table or view with the name exists
   * @throws iceberglite.spec.IcebergError.Unsupported if the catalog cannot register views, for example because it does
   *   not store the location of metadata files
   */
  def registerView(id: TableIdentifier, metadataFile: String): ViewState

  /** Drops a view. @return false if the view does not exist */
  def dropView(id: TableIdentifier): Boolean

  /** Renames a view. @throws iceberglite.spec.IcebergError.AlreadyExists if a table or view with the new name exists */
  def renameView(from: TableIdentifier, to: TableIdentifier): Unit
}
