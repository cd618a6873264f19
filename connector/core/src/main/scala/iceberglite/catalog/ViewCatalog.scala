package iceberglite.catalog

import iceberglite.table.{TableIdentifier, ViewChange, ViewState}

/** A catalog that knows views too (view spec). Tables and views share one space of names. */
trait ViewCatalog { self: Catalog =>

  /** @throws iceberglite.spec.IcebergError.NotFound there is no such namespace */
  def listViews(namespace: Vector[String]): Vector[TableIdentifier]

  def viewExists(id: TableIdentifier): Boolean

  /** The view's newest state. @throws iceberglite.spec.IcebergError.NotFound */
  def loadView(id: TableIdentifier): ViewState

  /**
   * Applies a change to a view if it still is at `base`; `None` creates the view.
   *
   * @throws iceberglite.spec.IcebergError.AlreadyExists a table or view of the name is there
   * @throws iceberglite.spec.IcebergError.CommitConflict another change came first, and nothing of this one is left
   * @throws iceberglite.spec.IcebergError.CommitStateUnknown nobody knows; everything is kept
   */
  def commitView(id: TableIdentifier, base: Option[ViewState], change: ViewChange): ViewState

  /** @return false where there is no such view */
  def dropView(id: TableIdentifier): Boolean
  def renameView(from: TableIdentifier, to: TableIdentifier): Unit
}
