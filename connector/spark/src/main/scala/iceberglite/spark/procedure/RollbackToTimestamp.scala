package iceberglite.spark.procedure

import org.apache.spark.sql.Row
import org.apache.spark.sql.types.StructType

import iceberglite.table.action

/** `CALL catalog.system.rollback_to_timestamp(table, timestamp)` */
object RollbackToTimestamp extends Procedure {
  private val timestamp =
    Parameter.required("timestamp", ParameterType.Time, "The snapshot is the last one that was made before this time")

  override val name = "rollback_to_timestamp"
  override val description = "Makes the snapshot current that was so at a time"
  override val parameters: Seq[Parameter[_]] = Seq(Parameter.table, timestamp)
  override val output: StructType = CurrentSnapshot.movedColumns

  override def call(arguments: Arguments, place: Place): Seq[Row] = CurrentSnapshot.moved(
    place.change(arguments(Parameter.table))(_ => new action.RollbackToTimestamp(arguments(timestamp)))
  )
}
