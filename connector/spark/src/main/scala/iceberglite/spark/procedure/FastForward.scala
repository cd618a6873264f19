package iceberglite.spark.procedure

import org.apache.spark.sql.Row
import org.apache.spark.sql.types.{LongType, StringType, StructType}

import iceberglite.table.action

/** `CALL catalog.system.fast_forward(table, branch, to)` */
object FastForward extends Procedure {
  private val branch =
    Parameter.required("branch", ParameterType.Text, "The branch to move; it is made where it is not there")
  private val to =
    Parameter.required("to", ParameterType.Text, "The branch or tag to move it to, whose history it must be part of")

  override val name = "fast_forward"
  override val description = "Moves a branch forward to where another branch or tag is"
  override val parameters: Seq[Parameter[_]] = Seq(Parameter.table, branch, to)

  override val output: StructType = StructType(Seq(
    Procedure.column("branch_updated", StringType, "The branch"),
    Procedure.column("previous_ref", LongType, "The snapshot that it stood at before", nullable = true),
    Procedure.column("updated_ref", LongType, "The snapshot that it stands at now")
  ))

  override def call(arguments: Arguments, place: Place): Seq[Row] = {
    val name = arguments(branch)
    val (before, after) = place.change(arguments(Parameter.table))(_ => new action.FastForward(name, arguments(to)))
    val ids = Seq(before, after).map(_.metadata).map(t => if (t.refs.contains(name)) t.snapshotOf(name) else None)
    Seq(Row(name +: ids.map(_.map(_.snapshotId).orNull[Any]): _*))
  }
}
