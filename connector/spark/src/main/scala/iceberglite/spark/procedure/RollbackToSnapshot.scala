package iceberglite.spark.procedure

import org.apache.spark.sql.Row
import org.apache.spark.sql.types.StructType

import iceberglite.table.action

/** `CALL catalog.system.rollback_to_snapshot(table, snapshot_id)` */
object RollbackToSnapshot extends Procedure {
  private val snapshot =
    Parameter.required("snapshot_id", ParameterType.Id, "The snapshot; it must be in the history of the current one")

  override val name = "rollback_to_snapshot"
  override val description = "Makes an earlier snapshot of the table's own history the current one"
  override val parameters: Seq[Parameter[_]] = Seq(Parameter.table, snapshot)
  override val output: StructType = CurrentSnapshot.movedColumns

  override def call(arguments: Arguments, place: Place): Seq[Row] = CurrentSnapshot.moved(
    place.change(arguments(Parameter.table))(_ => new action.RollbackToSnapshot(arguments(snapshot)))
  )
}
