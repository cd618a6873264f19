package iceberglite.spark.procedure

import org.apache.spark.sql.Row
import org.apache.spark.sql.types.StructType

import iceberglite.table.action

/** `CALL catalog.system.rollback_to_timestamp(table, timestamp)` */
object RollbackToTimestampProcedure extends Procedure {
  private val timestamp =
    Parameter.required(
      "timestamp",
      ParameterType.Time,
      "Time before which the snapshot was committed"
    )

  override val name = "rollback_to_timestamp"
  override val description =
    "Roll back to the newest snapshot in the history of the current snapshot that is older than a given timestamp"
  override val parameters: Seq[Parameter[_]] = Seq(Parameter.table, timestamp)
  override val output: StructType = CurrentSnapshotResult.rollbackColumns

  override def call(arguments: Arguments, context: ProcedureContext): Seq[Row] = CurrentSnapshotResult.rollbackResult(
    context.change(arguments(Parameter.table))(_ => new action.RollbackToTimestamp(arguments(timestamp)))
  )
}
