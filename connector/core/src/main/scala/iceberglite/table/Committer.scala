package iceberglite.table

import scala.annotation.nowarn

import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.update.{MetadataUpdate, Requirement}
import iceberglite.storage.FileIO

/** A table's name in its catalog. The namespace may have several levels. */
final case class TableIdentifier(namespace: Vector[String], name: String) {
  override def toString: String = (namespace :+ name).mkString(".")
}

/**
 * A table's metadata and the location of its metadata file.
 *
 * @param io reads and writes the table's files; present if the catalog vended credentials for the table
 * @param isWhole whether all snapshots are loaded, and not only those that branches and tags refer to
 */
final case class TableVersion(
    metadata: TableMetadata,
    metadataLocation: String,
    io: Option[FileIO] = None,
    isWhole: Boolean = true
)

/**
 * The updates of a commit and the requirements that the table must still meet. A commit request to a REST catalog
 * consists of the same data.
 */
final case class Change(updates: Vector[MetadataUpdate], requirements: Vector[Requirement]) {
  def ++(that: Change): Change =
    Change(updates ++ that.updates, (requirements ++ that.requirements).distinct)
}

/** The change to one table in a commit to several tables. @param base the version that the change was described for */
final case class TableChange(id: TableIdentifier, base: TableVersion, change: Change)

/** Swaps a table's metadata atomically. Catalogs implement it. */
trait Committer {

  /**
   * Applies a change to the table if its current version is still `base`; `None` creates the table.
   *
   * @throws iceberglite.spec.IcebergError.CommitConflict another commit came first; nothing of this commit remains
   * @throws iceberglite.spec.IcebergError.CommitStateUnknown it is unknown whether the commit happened; every file is
   *   kept
   */
  def commit(id: TableIdentifier, base: Option[TableVersion], change: Change): TableVersion

  /** Returns the table's newest version. @throws iceberglite.spec.IcebergError.NotFound */
  def load(id: TableIdentifier): TableVersion

  /**
   * Returns the newest version of a table that was loaded before. A catalog that keeps a pointer to the metadata file
   * returns `known` if the pointer has not changed, without reading metadata.
   */
  @nowarn("cat=unused-params") // unused by catalogs without a pointer
  def reload(id: TableIdentifier, known: TableVersion): TableVersion = load(id)

  /** Returns the table's directories as known from sources other than its metadata; see [[OwnedPaths]]. */
  @nowarn("cat=unused-params") // unused by default
  def ownership(id: TableIdentifier, version: TableVersion): TableOwnership = TableOwnership.unknown(id)
}
