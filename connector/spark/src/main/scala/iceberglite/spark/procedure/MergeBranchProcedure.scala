package iceberglite.spark.procedure

import org.apache.spark.sql.Row
import org.apache.spark.sql.types.{IntegerType, LongType, StringType, StructType}

import iceberglite.spec.metadata.SnapshotRef
import iceberglite.table.{action, SnapshotTarget}

/** `CALL catalog.system.merge_branch(table, branch, to)` */
object MergeBranchProcedure extends Procedure {
  private val branch = Parameter.required("branch", ParameterType.Text, "Branch whose commits are applied")
  private val to =
    Parameter.optional("to", ParameterType.Text, "Branch to which the commits are applied; by default main")

  override val name = "merge_branch"
  override val description =
    "Apply the commits of a branch to another branch that has diverged, if the changes do not overlap"
  override val parameters: Seq[Parameter[_]] = Seq(Parameter.table, branch, to)

  override val output: StructType = StructType(Seq(
    Procedure.column("branch_updated", StringType, "Name of the branch to which the commits were applied"),
    Procedure.column("previous_ref", LongType, "Snapshot of this branch before the call", nullable = true),
    Procedure.column("updated_ref", LongType, "Snapshot of this branch after the call", nullable = true),
    Procedure.column("merged_commits_count", IntegerType, "Number of commits that were applied; 0 if there were none")
  ))

  override def call(arguments: Arguments, context: ProcedureContext): Seq[Row] = {
    val target = arguments.get(to).getOrElse(SnapshotRef.Main)
    val merge = new action.MergeBranch(arguments(branch), SnapshotTarget.Branch(target))
    context.change(arguments(Parameter.table))(_ => merge)
    val result = merge.merged
    Seq(ResultRow(target, result.previous, result.current, result.commits))
  }
}
