package iceberglite.spark

import iceberglite.spec.Requirement.AssertTableUuid
import iceberglite.table.{Change, Committer, Table, TableIdentifier, TableVersion}

/**
 * The newest version of a table that its catalog has seen. Commits through it are seen at once, by every relation over
 * the table: a data frame that was made before an INSERT shows its rows after it.
 */
final class LiveTable(loaded: Table) extends Committer {

  // What commits through the tables handed out from here passes by this object.
  @volatile private var newest: Table = new Table(loaded.id, loaded.name, loaded.version, loaded.io, this)

  /** Whether there may be a newer version that is to be seen at once. */
  @volatile private var doubted = false

  /** The newest version, for a new look at the table. */
  def current: Table = {
    if (doubted) {
      // First, so that a doubt that comes meanwhile stays.
      doubted = false
      try refresh()
      catch {
        case e: Throwable =>
          doubted = true
          throw e
      }
    }
    newest
  }

  /** The newest version that is known; nothing is asked. */
  def seen: Table = newest

  /** Has the next look ask the catalog. */
  def doubt(): Unit = doubted = true

  /** Sees what others have committed. */
  def refresh(): Unit = load(loaded.id)

  override def commit(id: TableIdentifier, base: Option[TableVersion], change: Change): TableVersion = {
    val committed = advance(loaded.committer.commit(id, base, change))
    OwnCommits.announce(seen, Some(this))
    committed
  }

  /** @throws iceberglite.spec.IcebergError.ValidationFailed another table has taken the name (spec: `table-uuid`) */
  override def load(id: TableIdentifier): TableVersion = {
    val known = newest.version
    val version = if (known.isWhole) loaded.committer.reload(id, known) else loaded.committer.load(id)
    loaded.metadata.uuid.foreach(AssertTableUuid(_).check(Some(version.metadata), loaded.name))
    advance(version)
  }

  /** What has the name by now, perhaps another table; it is not taken over. */
  def atName(): TableVersion = loaded.committer.reload(loaded.id, newest.version)

  /**
   * Takes a version that was seen, unless a newer one was before: threads come with their versions in any order, and a
   * version's log tells what it follows.
   */
  def advance(version: TableVersion): TableVersion = synchronized {
    val known = newest.version
    val older = known.metadata.metadataLog.exists(_.metadataFile == version.metadataLocation)
    // The same version may come with more snapshots, or with a newer access to the table's files.
    val same = known.metadataLocation == version.metadataLocation && (known.isWhole || !version.isWhole)
    if (!older && (!same || version.io.isDefined)) newest = newest.at(version)
    version
  }
}
