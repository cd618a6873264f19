package iceberglite.table

import iceberglite.encryption.TableKeys
import iceberglite.spec.IcebergError.CommitStateUnknown
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.update.MetadataUpdate

/**
 * Collects the actions of writes to a table that is being created or replaced. [[StagedTable.commit]] applies all
 * actions in one commit.
 *
 * @param replaces whether an existing table is replaced
 */
final class StagedCommitter private[table] (staged: TableVersion, private[table] val replaces: Boolean)
    extends Committer {
  private var stagedActions = Vector.empty[Action]
  private var summaryEntries = Map.empty[String, String]

  private[table] def actions: Vector[Action] = synchronized(stagedActions)

  private[table] def summary: Map[String, String] = synchronized(summaryEntries)

  private[table] def stage(actions: Vector[Action], summary: Map[String, String]): Unit = synchronized {
    stagedActions ++= actions
    summaryEntries ++= summary
  }

  override def commit(id: TableIdentifier, base: Option[TableVersion], change: Change): TableVersion = {
    stage(Vector(new FixedChange(change)), Map.empty)
    val before = base.getOrElse(staged).metadata
    TableVersion(MetadataUpdate.applyAll(before, change.updates, before.lastUpdatedMs), staged.metadataLocation)
  }

  override def load(id: TableIdentifier): TableVersion = staged
}

/** An action that always returns the given change. */
final private class FixedChange(change: Change) extends MetadataAction {
  override def changeFor(base: TableMetadata, context: CommitContext): Change = change
}

/**
 * A table that is being created or replaced. [[commit]] makes everything that was written through [[table]] visible in
 * a single commit. Other readers and writers do not see the changes before that commit.
 *
 * @param table the table with its future metadata, for writers
 */
final class StagedTable private[table] (
    val table: Table,
    staged: StagedCommitter,
    target: CommitTarget,
    start: TableStart,
    base: Option[TableVersion],
    environment: Environment
) {
  private var isEnded = false

  /**
   * Creates or replaces the table together with everything that was written to it.
   *
   * @param summary entries that describe the compute engine and its job. They are added to the summary of each
   *   snapshot, in addition to the entries of the writes
   */
  def commit(summary: Map[String, String] = Map.empty): Table = {
    val transaction = new Transaction(target, start, base, staged.summary ++ summary, environment)
    staged.actions.foreach(transaction.add)
    try {
      val committed = transaction.commit()
      isEnded = true
      committed
    } catch {
      case unknown: CommitStateUnknown =>
        isEnded = true
        throw unknown
    }
  }

  /**
   * Ends the operation without a commit and deletes the written data files. After a commit that succeeded or has an
   * unknown outcome, this method has no effect.
   */
  def abort(): Unit = if (!isEnded) {
    isEnded = true
    Cleanup.delete(target.io, staged.actions.flatMap(_.writtenFiles).map(_.path))
    if (base.isEmpty) EmptyDirectories.removeFor(target.io, table.location, table.metadata)
  }
}

object StagedTable {

  /**
   * Begins to create or replace a table.
   *
   * @param base the table to replace, if it exists
   * @throws iceberglite.spec.IcebergError.AlreadyExists if the table exists, but `start` requires that it does not
   *   exist
   * @throws iceberglite.spec.IcebergError.NotFound if the table does not exist, but `start` requires that it exists
   * @throws iceberglite.spec.IcebergError.Unsupported if the table is encrypted, and its catalog has no key management
   *   service
   */
  def begin(
      target: CommitTarget,
      start: TableStart,
      base: Option[TableVersion],
      environment: Environment = Environment.system
  ): StagedTable = {
    val metadata = start.initialState(target.name, base.map(_.metadata), environment.nowMs()).metadata
    TableKeys.of(target.name, metadata, target.io.keyService).foreach(_.requireMasterKey())
    val staged = new StagedCommitter(TableVersion(metadata, base.fold("")(_.metadataLocation)), base.isDefined)
    val table = new Table(target.id, target.name, staged.load(target.id), target.io, staged)
    new StagedTable(table, staged, target.copy(io = table.io), start, base, environment)
  }
}
