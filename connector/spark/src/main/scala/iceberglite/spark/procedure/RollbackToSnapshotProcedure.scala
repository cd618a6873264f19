package iceberglite.spark.procedure

import org.apache.spark.sql.Row
import org.apache.spark.sql.types.StructType

import iceberglite.table.{action, SnapshotTarget}

/** `CALL catalog.system.rollback_to_snapshot(table, snapshot_id, branch)` */
object RollbackToSnapshotProcedure extends Procedure {
  private val snapshot =
    Parameter.required(
      "snapshot_id",
      ParameterType.Id,
      "Snapshot to roll back to; it must be an ancestor of the branch's head"
    )

  override val name = "rollback_to_snapshot"
  override val description = "Roll a branch back to an earlier snapshot in its history"
  override val parameters: Seq[Parameter[_]] = Seq(Parameter.table, snapshot, CurrentSnapshotResult.branch)
  override val output: StructType = CurrentSnapshotResult.rollbackColumns

  override def call(arguments: Arguments, context: ProcedureContext): Seq[Row] = {
    val of = SnapshotTarget.ofBranch(arguments.get(CurrentSnapshotResult.branch))
    val change = context.change(arguments(Parameter.table))(_ => new action.RollbackToSnapshot(arguments(snapshot), of))
    CurrentSnapshotResult.rollbackResult(change, of)
  }
}
