package iceberglite.table.action

import iceberglite.spec.{ContentFile, Operation, Snapshot, SnapshotRef, TableMetadata}
import iceberglite.table.CommitContext
import iceberglite.tree.{FileChanges, WrittenTree}

/** Adds data files. It can always be applied (spec: "Commit Conflict Resolution and Retry"). */
final class FastAppend(added: Vector[ContentFile], branch: String = SnapshotRef.Main) extends SnapshotAction(branch) {
  override def writtenFiles: Vector[ContentFile] = added

  override protected def changes(base: TableMetadata, parent: Option[Snapshot], context: CommitContext): FileChanges =
    FileChanges(added)

  override protected def operation(tree: WrittenTree): Operation = Operation.Append
}
