package iceberglite.spark.procedure

import org.apache.spark.sql.Row
import org.apache.spark.sql.types.StructType

import iceberglite.table.{action, SnapshotTarget}

/** `CALL catalog.system.rollback_to_timestamp(table, timestamp, branch)` */
object RollbackToTimestampProcedure extends Procedure {
  private val timestamp =
    Parameter.required(
      "timestamp",
      ParameterType.Time,
      "Time before which the snapshot was committed"
    )

  override val name = "rollback_to_timestamp"
  override val description =
    "Roll a branch back to the newest snapshot in its history that is older than a given timestamp"
  override val parameters: Seq[Parameter[_]] = Seq(Parameter.table, timestamp, CurrentSnapshotResult.branch)
  override val output: StructType = CurrentSnapshotResult.rollbackColumns

  override def call(arguments: Arguments, context: ProcedureContext): Seq[Row] = {
    val of = SnapshotTarget.ofBranch(arguments.get(CurrentSnapshotResult.branch))
    val change =
      context.change(arguments(Parameter.table))(_ => new action.RollbackToTimestamp(arguments(timestamp), of))
    CurrentSnapshotResult.rollbackResult(change, of)
  }
}
