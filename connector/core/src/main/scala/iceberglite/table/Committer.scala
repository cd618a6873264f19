package iceberglite.table

import scala.annotation.nowarn

import iceberglite.scan.ServerPlanner
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.rest.MetricsReport
import iceberglite.spec.update.{MetadataUpdate, Requirement}
import iceberglite.storage.FileIO

/** A table's name in its catalog. The namespace may have several levels. */
final case class TableIdentifier(namespace: Vector[String], name: String) {
  override def toString: String = (namespace :+ name).mkString(".")
}

/**
 * A table's metadata and the location of its metadata file.
 *
 * @param io storage with the credentials that the catalog vended for the table; absent if it vended none
 * @param hasAllSnapshots whether all snapshots are loaded, and not only those that branches and tags refer to
 * @param planner plans scans of the table on the server of the catalog; absent if scans are planned from the metadata
 */
final case class TableVersion(
    metadata: TableMetadata,
    metadataLocation: String,
    io: Option[FileIO] = None,
    hasAllSnapshots: Boolean = true,
    planner: Option[ServerPlanner] = None
)

/**
 * The updates of a commit, and the requirements that the table must meet at commit time. These are the fields of a
 * commit request to a REST catalog.
 */
final case class Change(updates: Vector[MetadataUpdate], requirements: Vector[Requirement]) {
  def ++(that: Change): Change =
    Change(updates ++ that.updates, (requirements ++ that.requirements).distinct)
}

/**
 * The change to one table in a commit to several tables.
 *
 * @param base the version of the table that the change is based on
 */
final case class TableChange(id: TableIdentifier, base: TableVersion, change: Change)

/** Loads a table's metadata, and replaces it atomically. Catalogs implement this trait. */
trait Committer {

  /**
   * Applies a change to the table. If `base` is absent, the table is created. Otherwise, a catalog that writes metadata
   * files itself requires that `base` is still the current version. A REST server checks only the requirements of the
   * change.
   *
   * @throws iceberglite.spec.IcebergError.CommitConflict if another commit came first, or if the table does not meet a
   *   requirement; this commit had no effect
   * @throws iceberglite.spec.IcebergError.CommitStateUnknown if it is unknown whether the commit succeeded. In this
   *   case, no file is deleted
   */
  def commit(id: TableIdentifier, base: Option[TableVersion], change: Change): TableVersion

  /** Returns the table's newest version. @throws iceberglite.spec.IcebergError.NotFound if the table does not exist */
  def load(id: TableIdentifier): TableVersion

  /**
   * Returns the newest version of the table that has a name now. It may be another table, with another UUID, than an
   * object that commits to one table has loaded before.
   */
  def loadByName(id: TableIdentifier): TableVersion = load(id)

  /**
   * Returns the newest version of a table that was loaded before. A catalog that stores the location of the metadata
   * file returns `known`, without reading metadata, if the location has not changed.
   */
  @nowarn("cat=unused-params") // unused by catalogs that do not store the location
  def reload(id: TableIdentifier, known: TableVersion): TableVersion = load(id)

  /**
   * Returns the directories that the table owns according to the catalog, and not according to the table's metadata;
   * see [[OwnedPaths]].
   */
  @nowarn("cat=unused-params") // unused by default
  def ownership(id: TableIdentifier, version: TableVersion): TableOwnership = TableOwnership.unknown(id)

  /**
   * Passes the metrics of an operation on a table to the receivers of the catalog, in the background. This method does
   * not fail.
   *
   * @param report evaluated only if the catalog has receivers
   */
  @nowarn("cat=unused-params") // unused by default
  def report(id: TableIdentifier, report: => MetricsReport): Unit = ()
}
