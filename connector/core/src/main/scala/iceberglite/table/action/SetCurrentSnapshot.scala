package iceberglite.table.action

import iceberglite.spec.MetadataUpdate.SetSnapshotRef
import iceberglite.spec.Requirement.AssertRefSnapshotId
import iceberglite.spec.SnapshotRef.{Branch, Main}
import iceberglite.spec.TableMetadata
import iceberglite.table.{Change, CommitContext}

/** Makes a snapshot the current one, whatever it descends from. */
final class SetCurrentSnapshot(snapshotId: Long) extends MetadataAction {
  override def describe(base: TableMetadata, context: CommitContext): Change = {
    base.snapshot(snapshotId)
    val ref = base.refs.get(Main) match {
      case Some(main: Branch) => main.copy(snapshotId = snapshotId)
      case _ => Branch(snapshotId)
    }
    Change(
      if (base.currentSnapshotId.contains(snapshotId)) Vector.empty else Vector(SetSnapshotRef(Main, ref)),
      Vector(AssertRefSnapshotId(Main, base.currentSnapshotId))
    )
  }
}
