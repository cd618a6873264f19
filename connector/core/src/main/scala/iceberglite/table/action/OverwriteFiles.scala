package iceberglite.table.action

import iceberglite.spec.IcebergError.ConcurrentChange
import iceberglite.spec.expr.Expression
import iceberglite.spec.expr.Expression.AlwaysFalse
import iceberglite.spec.file.{ContentFile, ManifestEntry, PartSummary}
import iceberglite.spec.metadata.{Operation, Snapshot, TableMetadata}
import iceberglite.table._
import iceberglite.tree.{FileChanges, FileSelector, WrittenTree}
import iceberglite.table.conflict.{BranchHistory, ConflictKind, Isolation}

/**
 * Replaces the files whose rows match a filter, the given files, or both, with new files. The commit fails if a data
 * file may contain both rows that match the filter and rows that do not, or if one of the given files is not live.
 *
 * @param filter a filter on the table's columns, unbound or bound to the table's current schema; `AlwaysFalse` if only
 *   the files in `removed` are replaced
 * @param isolation the concurrent changes to reject; by default nothing is checked, because an overwrite usually
 *   replaces concurrent changes as well
 * @param removed data files that the writer has read and whose remaining rows are in `added`
 * @param read a filter for the rows that the statement reads; by default `filter`. Concurrent changes to these rows
 *   conflict with the overwrite
 */
final class OverwriteFiles(
    filter: Expression,
    added: Vector[ContentFile],
    isolation: Option[Isolation] = None,
    caseSensitive: Boolean = true,
    to: SnapshotTarget = SnapshotTarget.Main,
    removed: Vector[ContentFile] = Vector.empty,
    read: Option[Expression] = None
) extends SnapshotAction(to) {
  override def writtenFiles: Vector[ContentFile] = added

  override protected def changes(base: TableMetadata, parent: Option[Snapshot], context: CommitContext): FileChanges = {
    val history = new BranchHistory(base, parent, context)
    isolation.foreach(check(_, base, history, context))
    NamedFiles.requireRead(removed, isolation.flatMap(_.since), "overwrite", base, history, context)
    val matching =
      if (filter == AlwaysFalse) FileSelector.NoFiles
      else Removal.matching(new RowFilter(filter, caseSensitive, base), "overwrite", context)
    FileChanges(added, OverwriteFiles.either(matching, new NamedFiles(removed, base)))
  }

  private def check(isolation: Isolation, base: TableMetadata, history: BranchHistory, context: CommitContext): Unit = {
    val readFilter = new RowFilter(read.getOrElse(filter), caseSensitive, base)
    val rejected: Set[ConflictKind] =
      if (filter == AlwaysFalse) isolation.rejectedConflicts & Set[ConflictKind](ConflictKind.AddedRows)
      else isolation.rejectedConflicts
    isolation.check(history, context, readFilter, rejected)
    val data = removed.map(f => f.path -> f).toMap
    if (data.nonEmpty) NewDeletes.of(data, isolation.since, base, history, _ => true).foreach { case (change, file) =>
      throw ConcurrentChange(
        s"Cannot commit to ${context.table} with isolation level ${isolation.level.name}: snapshot " +
          s"${change.snapshot.snapshotId} added the delete file ${change.entry.file.path}, which may delete rows of " +
          s"${file.path}. Run the statement again"
      )
    }
  }

  override protected def operation(tree: WrittenTree): Operation = Removal.operation(tree)
}

private object OverwriteFiles {

  /** Selects the files that at least one of the two selectors removes. */
  def either(matching: FileSelector, named: NamedFiles): FileSelector =
    if (named.files.isEmpty) matching
    else new FileSelector {
      override def mightMatch(part: PartSummary): Boolean = matching.mightMatch(part) || named.mightMatch(part)
      override def removes(e: ManifestEntry): Boolean = named.removes(e) || matching.removes(e)
    }
}
