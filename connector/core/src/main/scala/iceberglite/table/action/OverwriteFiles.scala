package iceberglite.table.action

import iceberglite.spec.expr.Expression
import iceberglite.spec.{ContentFile, Operation, Snapshot, SnapshotRef, TableMetadata}
import iceberglite.table.{CommitContext, Isolation}
import iceberglite.tree.{FileChanges, WrittenTree}

/**
 * Replaces the rows that match a filter by new files. Only whole files go: one with rows that match and rows that do
 * not fails the commit.
 *
 * @param filter on the columns of the table, unbound
 * @param isolation what concurrent commits may not have done; by default nothing is checked, as an overwrite is usually
 *   meant to win
 */
final class OverwriteFiles(
    filter: Expression,
    added: Vector[ContentFile],
    isolation: Option[Isolation] = None,
    caseSensitive: Boolean = true,
    branch: String = SnapshotRef.Main
) extends SnapshotAction(branch) {
  override def writtenFiles: Vector[ContentFile] = added

  override protected def changes(base: TableMetadata, parent: Option[Snapshot], context: CommitContext): FileChanges = {
    val rows = new RowFilter(filter, caseSensitive, base)
    isolation.foreach(_.check(base, parent, context, rows))
    FileChanges(added, Removal.matching(rows, "overwrite", context))
  }

  override protected def operation(tree: WrittenTree): Operation = Removal.operation(tree)
}
