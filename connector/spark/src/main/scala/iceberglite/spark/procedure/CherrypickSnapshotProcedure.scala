package iceberglite.spark.procedure

import org.apache.spark.sql.Row
import org.apache.spark.sql.types.StructType

import iceberglite.table.{action, SnapshotTarget}

/** `CALL catalog.system.cherrypick_snapshot(table, snapshot_id, branch)` */
object CherrypickSnapshotProcedure extends Procedure {
  private val snapshot = Parameter.required(
    "snapshot_id",
    ParameterType.Id,
    "Snapshot to apply; it must have added files or replaced partitions, or have the branch's head as its parent"
  )

  override val name = "cherrypick_snapshot"
  override val description =
    "Apply the changes of a snapshot, which may be staged or on any branch, to the head of a branch"
  override val parameters: Seq[Parameter[_]] = Seq(Parameter.table, snapshot, CurrentSnapshotResult.branch)
  override val output: StructType = CurrentSnapshotResult.cherrypickColumns

  override def call(arguments: Arguments, context: ProcedureContext): Seq[Row] = {
    val to = SnapshotTarget.ofBranch(arguments.get(CurrentSnapshotResult.branch))
    val change = context.change(arguments(Parameter.table))(_ => new action.CherryPick(arguments(snapshot), to))
    CurrentSnapshotResult.cherrypickResult(arguments(snapshot), change, to)
  }
}
