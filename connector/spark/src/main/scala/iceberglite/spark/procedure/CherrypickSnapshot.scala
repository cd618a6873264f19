package iceberglite.spark.procedure

import org.apache.spark.sql.Row
import org.apache.spark.sql.types.StructType

import iceberglite.table.action

/** `CALL catalog.system.cherrypick_snapshot(table, snapshot_id)` */
object CherrypickSnapshot extends Procedure {
  private val snapshot = Parameter.required(
    "snapshot_id",
    ParameterType.Id,
    "A snapshot that added files or replaced partitions, or that follows the current one"
  )

  override val name = "cherrypick_snapshot"
  override val description = "Applies the changes of one snapshot, wherever it is, to the table"
  override val parameters: Seq[Parameter[_]] = Seq(Parameter.table, snapshot)
  override val output: StructType = CurrentSnapshot.pickedColumns

  override def call(arguments: Arguments, place: Place): Seq[Row] = CurrentSnapshot.picked(
    arguments(snapshot),
    place.change(arguments(Parameter.table))(_ => new action.CherryPick(arguments(snapshot)))
  )
}
