package iceberglite.spark.procedure

import org.apache.spark.sql.Row
import org.apache.spark.sql.types.StructType

import iceberglite.table.action

/** `CALL catalog.system.rollback_to_snapshot(table, snapshot_id)` */
object RollbackToSnapshotProcedure extends Procedure {
  private val snapshot =
    Parameter.required(
      "snapshot_id",
      ParameterType.Id,
      "Snapshot to roll back to; it must be an ancestor of the current snapshot"
    )

  override val name = "rollback_to_snapshot"
  override val description = "Roll back to an earlier snapshot in the history of the current snapshot"
  override val parameters: Seq[Parameter[_]] = Seq(Parameter.table, snapshot)
  override val output: StructType = CurrentSnapshotResult.rollbackColumns

  override def call(arguments: Arguments, context: ProcedureContext): Seq[Row] = CurrentSnapshotResult.rollbackResult(
    context.change(arguments(Parameter.table))(_ => new action.RollbackToSnapshot(arguments(snapshot)))
  )
}
