package iceberglite.spark.procedure

import org.apache.spark.sql.Row
import org.apache.spark.sql.types.StructType

import iceberglite.spec.metadata.SummaryKey
import iceberglite.table.{action, SnapshotTarget}

/** `CALL catalog.system.publish_changes(table, wap_id, branch)` */
object PublishChangesProcedure extends Procedure {
  private val wapId =
    Parameter.required("wap_id", ParameterType.Text, "Value of `spark.wap.id` when the rows were written")

  override val name = "publish_changes"
  override val description = "Apply the changes that a session with `spark.wap.id` has staged"
  override val parameters: Seq[Parameter[_]] = Seq(Parameter.table, wapId, CurrentSnapshotResult.branch)
  override val output: StructType = CurrentSnapshotResult.cherrypickColumns

  override def call(arguments: Arguments, context: ProcedureContext): Seq[Row] = {
    val to = SnapshotTarget.ofBranch(arguments.get(CurrentSnapshotResult.branch))
    val change = context.change(arguments(Parameter.table))(_ => new action.PublishChanges(arguments(wapId), to))
    val staged = change._2.metadata.snapshots.filter(_.summary.get(SummaryKey.WapId).contains(arguments(wapId)))
    CurrentSnapshotResult.cherrypickResult(staged.head.snapshotId, change, to)
  }
}
