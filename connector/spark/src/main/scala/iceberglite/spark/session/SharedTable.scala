package iceberglite.spark.session

import iceberglite.spec.rest.MetricsReport
import iceberglite.spec.update.Requirement.AssertTableUuid
import iceberglite.storage.MetadataFiles
import iceberglite.table.{Change, Committer, Table, TableIdentifier, TableOwnership, TableVersion}

/**
 * The newest version of a table that its catalog has seen. Commits through this object are immediately visible to every
 * relation that refers to it: a DataFrame that was created before an INSERT shows the inserted rows.
 */
final class SharedTable(loaded: Table) extends Committer {

  // This object is the committer of the table. Therefore, a commit through a table that `current` has returned updates
  // `newest`.
  @volatile private var newest: Table = new Table(loaded.id, loaded.name, loaded.version, loaded.io, this)

  /** Whether there may be a newer version, which the next access must load. */
  @volatile private var mayBeStale = false

  /**
   * Returns the newest version, for a statement that resolves the table. Loads it from the catalog if it may be stale.
   */
  def current: Table = {
    if (mayBeStale) {
      // Reset the flag first, so that a concurrent call of `markStale` is not lost.
      mayBeStale = false
      try refresh()
      catch {
        case e: Throwable =>
          mayBeStale = true
          throw e
      }
    }
    newest
  }

  /** Returns the newest known version, without a request to the catalog. */
  def lastKnown: Table = newest

  /** Makes the next access load the newest version from the catalog. */
  def markStale(): Unit = mayBeStale = true

  /** Loads the newest version, with commits of other writers. */
  def refresh(): Unit = load(loaded.id)

  override def commit(id: TableIdentifier, base: Option[TableVersion], change: Change): TableVersion = {
    val committed = advance(loaded.committer.commit(id, base, change))
    CommitListeners.announce(lastKnown, Some(this))
    committed
  }

  override def report(id: TableIdentifier, report: => MetricsReport): Unit = loaded.committer.report(id, report)

  /**
   * Loads the newest version.
   *
   * @throws iceberglite.spec.IcebergError.ValidationFailed if another table has this name now (spec: `table-uuid`)
   */
  override def load(id: TableIdentifier): TableVersion = {
    val version = loadByName(id)
    loaded.metadata.uuid.foreach(AssertTableUuid(_).check(Some(version.metadata), loaded.name))
    version
  }

  /** Loads the newest version, which is remembered unless another table has this name now. */
  override def loadByName(id: TableIdentifier): TableVersion = {
    val known = newest.version
    val version = if (known.hasAllSnapshots) loaded.committer.reload(id, known) else loaded.committer.load(id)
    if (loaded.metadata.uuid.forall(version.metadata.uuid.contains(_))) advance(version) else version
  }

  /**
   * Loads the table that now has this table's name. It may be another table. The loaded version does not become the
   * newest version of this object.
   */
  def reloadByName(): TableVersion = loaded.committer.reload(loaded.id, newest.version)

  /**
   * Makes a version the newest version of this object, unless a newer version is known. Threads may report versions in
   * any order. A version is older if the metadata log of the newest known version contains it.
   */
  def advance(version: TableVersion): TableVersion = synchronized {
    val known = newest.version
    val isOlder = known.metadata.metadataLog.exists(_.metadataFile == version.metadataLocation)
    // The reported object may be the same version with more loaded snapshots, or with newer credentials for the table's
    // files. The content is compared too, because a file-system table can use the name of a withdrawn or deleted
    // metadata file again.
    val isSame = known.metadataLocation == version.metadataLocation &&
      MetadataFiles.isSame(known.metadata, version.metadata) &&
      (known.hasAllSnapshots || !version.hasAllSnapshots)
    if (!isOlder && (!isSame || version.io.isDefined)) newest = newest.at(version)
    version
  }

  override def ownership(id: TableIdentifier, version: TableVersion): TableOwnership =
    loaded.committer.ownership(id, version)
}
