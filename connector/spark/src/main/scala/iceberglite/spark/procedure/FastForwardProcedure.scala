package iceberglite.spark.procedure

import org.apache.spark.sql.Row
import org.apache.spark.sql.types.{LongType, StringType, StructType}

import iceberglite.table.action

/** `CALL catalog.system.fast_forward(table, branch, to)` */
object FastForwardProcedure extends Procedure {
  private val branch =
    Parameter.required("branch", ParameterType.Text, "Branch to fast-forward; it is created if it does not exist")
  private val to =
    Parameter.required(
      "to",
      ParameterType.Text,
      "Branch or tag to move to; its history must contain the current snapshot of the branch that is moved"
    )

  override val name = "fast_forward"
  override val description = "Fast-forward a branch to the snapshot of another branch or tag"
  override val parameters: Seq[Parameter[_]] = Seq(Parameter.table, branch, to)

  override val output: StructType = StructType(Seq(
    Procedure.column("branch_updated", StringType, "Name of the branch"),
    Procedure.column("previous_ref", LongType, "Snapshot of the branch before the call", nullable = true),
    Procedure.column("updated_ref", LongType, "Snapshot of the branch after the call")
  ))

  override def call(arguments: Arguments, context: ProcedureContext): Seq[Row] = {
    val name = arguments(branch)
    val (before, after) = context.change(arguments(Parameter.table))(_ => new action.FastForward(name, arguments(to)))
    val ids = Seq(before, after).map(_.metadata).map(t => if (t.refs.contains(name)) t.snapshotOf(name) else None)
    Seq(ResultRow(name +: ids.map(_.map(_.snapshotId)): _*))
  }
}
