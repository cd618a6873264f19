package iceberglite.table.action

import iceberglite.spec.expr.Expression
import iceberglite.spec.metadata.{Operation, Snapshot, TableMetadata}
import iceberglite.table.{CommitContext, SnapshotTarget}
import iceberglite.table.conflict.Isolation
import iceberglite.tree.{FileChanges, WrittenTree}

/**
 * Removes the files in which all rows match a filter, according to the partitions and metrics of the files. The commit
 * fails if a data file may also contain rows that do not match. If no file matches, nothing is committed.
 *
 * @param filter a filter on the table's columns, unbound or bound to the table's current schema
 */
final class DeleteFiles(
    filter: Expression,
    isolation: Option[Isolation] = None,
    caseSensitive: Boolean = true,
    to: SnapshotTarget = SnapshotTarget.Main
) extends SnapshotAction(to) {
  override protected def changes(base: TableMetadata, parent: Option[Snapshot], context: CommitContext): FileChanges = {
    val rows = new RowFilter(filter, caseSensitive, base)
    isolation.foreach(_.check(base, parent, context, rows))
    FileChanges(Vector.empty, Removal.matching(rows, "delete", context))
  }

  override protected def operation(tree: WrittenTree): Operation = Operation.Delete

  override protected def commitsEmpty: Boolean = false
}
