package iceberglite.table.action

import iceberglite.spec.file.{ManifestContent, ManifestEntry, PartSummary}
import iceberglite.spec.metadata.{Operation, Snapshot, TableMetadata}
import iceberglite.table.{CommitContext, SnapshotTarget}
import iceberglite.table.conflict.BranchHistory
import iceberglite.tree.{FileChanges, FileSelector, PartFilter, WrittenTree}

/**
 * Removes data files by path, together with the deletes that apply only to these files. The paths must be equal to the
 * paths in the metadata. Without `mustExist`, nothing is committed if none of the files is in the branch.
 *
 * @param mustExist whether the commit fails if a path is not in the branch
 */
final class RemoveFiles(paths: Set[String], mustExist: Boolean = true, to: SnapshotTarget = SnapshotTarget.Main)
    extends SnapshotAction(to) {

  override protected def changes(base: TableMetadata, parent: Option[Snapshot], context: CommitContext): FileChanges = {
    if (mustExist) {
      val live =
        new BranchHistory(base, parent, context).liveEntries(ManifestContent.Data, PartFilter.All)(isRequested).map(
          _.file.path
        ).toSet
      (paths -- live).toVector.sorted.headOption.foreach(NamedFiles.missing(_, "remove", context))
    }
    FileChanges(Vector.empty, selector)
  }

  private def isRequested(entry: ManifestEntry): Boolean = paths(entry.file.path)

  private def selector: FileSelector = new FileSelector {
    override def mightMatch(part: PartSummary): Boolean = part.content == ManifestContent.Data && part.hasLiveFiles
    override def removes(entry: ManifestEntry): Boolean = isRequested(entry)
  }

  override protected def operation(tree: WrittenTree): Operation = Operation.Delete

  override protected def commitsEmpty: Boolean = false
}
