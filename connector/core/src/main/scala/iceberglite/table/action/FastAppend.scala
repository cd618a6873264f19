package iceberglite.table.action

import iceberglite.spec.file.ContentFile
import iceberglite.spec.metadata.{Operation, Snapshot, TableMetadata}
import iceberglite.table.{CommitContext, SnapshotTarget}
import iceberglite.tree.{FileChanges, WrittenTree}

/**
 * Adds files without rewriting existing manifests. This is the fastest kind of commit, but in format versions 1 to 3,
 * the number of manifests grows with every commit. Concurrent changes never conflict with an append (spec: "Commit
 * Conflict Resolution and Retry").
 */
final class FastAppend(added: Vector[ContentFile], to: SnapshotTarget = SnapshotTarget.Main)
    extends SnapshotAction(to) {
  override def writtenFiles: Vector[ContentFile] = added

  override protected def changes(base: TableMetadata, parent: Option[Snapshot], context: CommitContext): FileChanges =
    FileChanges(added, mergesManifests = false)

  override protected def operation(tree: WrittenTree): Operation = Operation.Append
}

/**
 * Adds files and merges small manifests. In format versions 1 to 3, `commit.manifest.target-size-bytes` and
 * `commit.manifest.min-count-to-merge` determine which manifests are merged. Concurrent changes never conflict with an
 * append.
 */
final class MergeAppend(added: Vector[ContentFile], to: SnapshotTarget = SnapshotTarget.Main)
    extends SnapshotAction(to) {
  override def writtenFiles: Vector[ContentFile] = added

  override protected def changes(base: TableMetadata, parent: Option[Snapshot], context: CommitContext): FileChanges =
    FileChanges(added)

  override protected def operation(tree: WrittenTree): Operation = Operation.Append
}
