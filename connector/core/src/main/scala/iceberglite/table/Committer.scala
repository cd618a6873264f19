package iceberglite.table

import scala.annotation.nowarn

import iceberglite.io.FileIO
import iceberglite.spec.{MetadataUpdate, Requirement, TableMetadata}

/** A table's name in its catalog; the namespace of a nested one has several levels. */
final case class TableIdentifier(namespace: Vector[String], name: String) {
  override def toString: String = (namespace :+ name).mkString(".")
}

/**
 * A table's metadata and the file it stands in.
 *
 * @param io what reads and writes the table's files, where the catalog gave the table an access of its own
 * @param isWhole whether every snapshot is there, and not only those that branches and tags name
 */
final case class TableVersion(
    metadata: TableMetadata,
    metadataLocation: String,
    io: Option[FileIO] = None,
    isWhole: Boolean = true
)

/** What a commit does, if what it requires still holds: the same data that a REST catalog takes. */
final case class Change(updates: Vector[MetadataUpdate], requirements: Vector[Requirement]) {
  def ++(that: Change): Change =
    Change(updates ++ that.updates, (requirements ++ that.requirements).distinct)
}

/** A change to one of several tables that change together. @param base what it was described on */
final case class TableChange(id: TableIdentifier, base: TableVersion, change: Change)

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

  /**
   * The same, of a table that was seen before: who can tell by a pointer alone that it still is where it was gives
   * `known` back, and reads no metadata.
   */
  @nowarn("cat=unused-params") // for those who keep no pointer
  def reload(id: TableIdentifier, known: TableVersion): TableVersion = load(id)

  /** What is known of the table's directories without its metadata; see [[OwnedPaths]]. */
  @nowarn("cat=unused-params") // for those who know nothing
  def ownership(id: TableIdentifier, version: TableVersion): TableOwnership = TableOwnership.unknown(id)
}
