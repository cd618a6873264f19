package iceberglite.spark.procedure

import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.metadata.{Snapshot, TableMetadata}
import iceberglite.table.SnapshotTarget

/** The parameters of procedures that read one snapshot: its id, or the branch whose newest snapshot is read. */
private[procedure] object SelectedSnapshot {
  val id: Parameter[Long] =
    Parameter.optional("snapshot_id", ParameterType.Id, "Id of the snapshot; by default the current one")

  val branch: Parameter[String] =
    Parameter.optional("branch", ParameterType.Text, "Branch whose newest snapshot is selected; by default main")

  /**
   * Returns the selected snapshot; absent if the branch has no snapshot.
   *
   * @throws InvalidArgument if the call sets both parameters, or names a tag
   * @throws iceberglite.spec.IcebergError.NotFound if the snapshot or the branch does not exist
   */
  def of(arguments: Arguments, table: TableMetadata): Option[Snapshot] =
    (arguments.get(id), arguments.get(branch)) match {
      case (Some(_), Some(name)) =>
        throw InvalidArgument("argument branch", name, "snapshot_id is set too. Set only one of the two arguments")
      case (Some(snapshotId), None) => Some(table.snapshot(snapshotId))
      case (None, name) => SnapshotTarget.ofBranch(name).head(table)
    }
}
