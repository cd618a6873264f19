package iceberglite.table

import iceberglite.spec.{MetadataUpdate, Requirement, TableMetadata}

/** A table's name in its catalog; the namespace of a nested one has several levels. */
final case class TableIdentifier(namespace: Vector[String], name: String) {
  override def toString: String = (namespace :+ name).mkString(".")
}

/** A table's metadata and the file it stands in. */
final case class TableVersion(metadata: TableMetadata, metadataLocation: String)

/** What a commit does, if what it requires still holds: the same data that a REST catalog takes. */
final case class Change(updates: Vector[MetadataUpdate], requirements: Vector[Requirement]) {
  def ++(that: Change): Change =
    Change(updates ++ that.updates, (requirements ++ that.requirements).distinct)
}

/** Whoever swaps a table's metadata atomically. */
trait Committer {

  /**
   * Applies a change to the table if it still is at `base`; `None` creates the table.
   *
   * @throws iceberglite.spec.IcebergError.CommitConflict another commit came first, and nothing of this one is left
   * @throws iceberglite.spec.IcebergError.CommitStateUnknown nobody knows; everything is kept
   */
  def commit(id: TableIdentifier, base: Option[TableVersion], change: Change): TableVersion

  /** The table's newest version. @throws iceberglite.spec.IcebergError.NotFound */
  def load(id: TableIdentifier): TableVersion
}
