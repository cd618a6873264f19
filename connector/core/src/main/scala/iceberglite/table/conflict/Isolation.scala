package iceberglite.table.conflict

import iceberglite.spec.IcebergError.ConcurrentChange
import iceberglite.spec.file.{ManifestContent, ManifestEntry}
import iceberglite.spec.metadata.{Snapshot, TableMetadata}
import iceberglite.tree.PartFilter
import iceberglite.spec.property.IsolationLevel
import iceberglite.table.CommitContext

/**
 * Accepts the files that a write reads or replaces. A commit uses the filter to find concurrent changes that conflict
 * with the write.
 */
trait ConflictFilter extends PartFilter {

  /**
   * Returns whether the entry's data file may contain a row that the write reads or replaces, or whether the entry's
   * delete file may delete such a row.
   */
  def mightMatch(entry: ManifestEntry): Boolean

  /** Returns a description of the rows for messages, such as `where id = 1`. */
  def description: String
}

/**
 * The kind of a concurrent change to the rows that a write reads or replaces. Rewrites such as compactions do not
 * change rows and have no kind. Removals of delete files have no kind either.
 */
sealed abstract private[table] class ConflictKind
private[table] object ConflictKind {
  case object AddedRows extends ConflictKind
  case object AddedDeletes extends ConflictKind
  case object RemovedFiles extends ConflictKind
}

/**
 * A check that concurrent commits did not change the rows that a write reads or replaces.
 *
 * @param since the snapshot that the write read; if absent, all snapshots of the branch are treated as concurrent
 */
final case class Isolation(level: IsolationLevel, since: Option[Long]) {
  import ConflictKind._

  /** Returns the concurrent changes that this level rejects if a write replaces the rows that it reads. */
  private[table] def rejectedConflicts: Set[ConflictKind] = level match {
    case IsolationLevel.Serializable => Set(AddedRows, AddedDeletes, RemovedFiles)
    case IsolationLevel.Snapshot => Set(AddedDeletes, RemovedFiles)
  }

  /**
   * Checks that no concurrent change conflicts with a write.
   *
   * @param parent the head of the branch that the write commits to
   * @throws ConcurrentChange if a concurrent change conflicts; the message names the file
   */
  def check(base: TableMetadata, parent: Option[Snapshot], context: CommitContext, rowFilter: ConflictFilter): Unit =
    check(new BranchHistory(base, parent, context), context, rowFilter, rejectedConflicts)

  /** Checks that there are no concurrent changes of the kinds in `rejectedConflicts`. */
  private[table] def check(
      history: BranchHistory,
      context: CommitContext,
      rowFilter: ConflictFilter,
      rejectedConflicts: Set[ConflictKind]
  ): Unit = {
    val conflicts = for {
      change <- history.changes(history.concurrentCommits(since), rowFilter)
      if conflictOf(change).exists(rejectedConflicts) && rowFilter.mightMatch(change.entry)
    } yield change
    val affected = affectedFiles(conflicts, history, rowFilter)
    conflicts.find(c => c.entry.file.onlyDataFile.forall(affected)).foreach { change =>
      val file = change.entry.file
      val verb = if (change.isRemoved) "removed" else if (change.isData) "added" else "added the delete file"
      throw ConcurrentChange(
        s"Cannot commit to ${context.table} with isolation level ${level.name}: snapshot " +
          s"${change.snapshot.snapshotId} $verb ${file.path}, which may contain rows ${rowFilter.description}. " +
          "Run the statement again"
      )
    }
  }

  private def conflictOf(change: CommittedFileChange): Option[ConflictKind] =
    if (change.isRewrite) None
    else if (change.isRemoved) Some(RemovedFiles).filter(_ => change.isData)
    else Some(if (change.isData) AddedRows else AddedDeletes)

  /**
   * Returns the paths of the data files that match the write's filter and to which concurrent deletes apply. If a
   * delete file applies to a single data file, it conflicts with the write only if the data file matches the filter.
   */
  private def affectedFiles(
      conflicts: Vector[CommittedFileChange],
      history: BranchHistory,
      rowFilter: ConflictFilter
  ): Set[String] =
    conflicts.groupBy(_.snapshot).flatMap { case (snapshot, changes) =>
      val paths = changes.flatMap(c => c.entry.file.onlyDataFile).toSet
      if (paths.isEmpty) Vector.empty
      else history.liveEntriesAt(Some(snapshot), ManifestContent.Data, rowFilter) { data =>
        paths(data.file.path) && rowFilter.mightMatch(data)
      }.map(_.file.path)
    }.toSet
}
