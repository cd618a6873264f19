package iceberglite.spark.procedure

import org.apache.spark.sql.Row
import org.apache.spark.sql.types.StructType

import iceberglite.table.action

/** `CALL catalog.system.cherrypick_snapshot(table, snapshot_id)` */
object CherrypickSnapshotProcedure extends Procedure {
  private val snapshot = Parameter.required(
    "snapshot_id",
    ParameterType.Id,
    "Snapshot that added files or replaced partitions, or whose parent is the current snapshot"
  )

  override val name = "cherrypick_snapshot"
  override val description =
    "Apply the changes of one snapshot of the table, on any branch or staged, to the current state"
  override val parameters: Seq[Parameter[_]] = Seq(Parameter.table, snapshot)
  override val output: StructType = CurrentSnapshot.cherrypickColumns

  override def call(arguments: Arguments, context: ProcedureContext): Seq[Row] = CurrentSnapshot.cherrypickResult(
    arguments(snapshot),
    context.change(arguments(Parameter.table))(_ => new action.CherryPick(arguments(snapshot)))
  )
}
