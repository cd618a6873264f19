package iceberglite.catalog

import iceberglite.table.{TableIdentifier, ViewChange, ViewState}

/** A catalog that supports views (view spec). A table and a view cannot have the same name. */
trait ViewCatalog { self: Catalog =>

  /** Lists views. @throws iceberglite.spec.IcebergError.NotFound the namespace does not exist */
  def listViews(namespace: Vector[String]): Vector[TableIdentifier]

  def viewExists(id: TableIdentifier): Boolean

  /** Returns the view's newest state. @throws iceberglite.spec.IcebergError.NotFound the view does not exist */
  def loadView(id: TableIdentifier): ViewState

  /**
   * Applies a change to a view if the view's newest state is still `base`. If `base` is `None`, creates the view.
   *
   * @throws iceberglite.spec.IcebergError.AlreadyExists a table or view with the name exists
   * @throws iceberglite.spec.IcebergError.CommitConflict another change came first; this change has no effect
   * @throws iceberglite.spec.IcebergError.CommitStateUnknown the outcome is unknown; no file is deleted
   */
  def commitView(id: TableIdentifier, base: Option[ViewState], change: ViewChange): ViewState

  /** Drops a view. @return false if the view does not exist */
  def dropView(id: TableIdentifier): Boolean
  def renameView(from: TableIdentifier, to: TableIdentifier): Unit
}
