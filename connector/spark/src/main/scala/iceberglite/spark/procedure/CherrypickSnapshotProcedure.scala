package iceberglite.spark.procedure

import org.apache.spark.sql.Row
import org.apache.spark.sql.types.StructType

import iceberglite.table.action

/** `CALL catalog.system.cherrypick_snapshot(table, snapshot_id)` */
object CherrypickSnapshotProcedure extends Procedure {
  private val snapshot = Parameter.required(
    "snapshot_id",
    ParameterType.Id,
    "Snapshot to apply; it must have added files or replaced partitions, or have the current snapshot as its parent"
  )

  override val name = "cherrypick_snapshot"
  override val description =
    "Apply the changes of a snapshot, which may be staged or on any branch, to the current state of the table"
  override val parameters: Seq[Parameter[_]] = Seq(Parameter.table, snapshot)
  override val output: StructType = CurrentSnapshotResult.cherrypickColumns

  override def call(arguments: Arguments, context: ProcedureContext): Seq[Row] = CurrentSnapshotResult.cherrypickResult(
    arguments(snapshot),
    context.change(arguments(Parameter.table))(_ => new action.CherryPick(arguments(snapshot)))
  )
}
