package iceberglite.spark.procedure

import org.apache.spark.sql.Row
import org.apache.spark.sql.types.StructType

import iceberglite.spark.conf.TimeTravel
import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.metadata.TableMetadata
import iceberglite.table.action

/** `CALL catalog.system.set_current_snapshot(table, snapshot_id)`, or with `ref => name` instead of `snapshot_id`. */
object SetCurrentSnapshotProcedure extends Procedure {
  private val snapshot =
    Parameter.optional("snapshot_id", ParameterType.Id, "Snapshot to set; either this or `ref` must be given")
  private val ref = Parameter.optional("ref", ParameterType.Text, "Branch or tag whose snapshot is set")

  override val name = "set_current_snapshot"
  override val description =
    "Set any snapshot of the table as the current snapshot, even if it is not an ancestor of the current one"
  override val parameters: Seq[Parameter[_]] = Seq(Parameter.table, snapshot, ref)
  override val output: StructType = CurrentSnapshotResult.setColumns

  override def call(arguments: Arguments, context: ProcedureContext): Seq[Row] = CurrentSnapshotResult.rollbackResult(
    context.change(arguments(Parameter.table)) { table =>
      new action.SetCurrentSnapshot(selected(table, arguments.get(snapshot), arguments.get(ref)))
    }
  )

  private def selected(table: TableMetadata, id: Option[Long], ref: Option[String]): Long = (id, ref) match {
    case (Some(snapshotId), None) => snapshotId
    case (None, Some(name)) => TimeTravel.ref(table, name).snapshotId
    case _ => throw InvalidArgument(
        s"arguments of $name",
        Seq(id.map(i => s"snapshot_id $i"), ref.map(r => s"ref $r")).flatten.mkString(" and "),
        "Set either snapshot_id or ref"
      )
  }
}
