package iceberglite.spark.procedure

import org.apache.spark.sql.Row
import org.apache.spark.sql.types.{LongType, StructType}

import iceberglite.spec.IcebergError.ValidationFailed
import iceberglite.table.{SnapshotTarget, Table}

/** The parameter `branch` and the result columns of procedures that move the head of a branch, by default `main`. */
private[procedure] object CurrentSnapshotResult {
  val branch: Parameter[String] =
    Parameter.optional("branch", ParameterType.Text, "Branch that is changed; by default main")

  private val current =
    Procedure.column("current_snapshot_id", LongType, "Snapshot that is the head of the branch after the call")

  /** @param mayHaveNoSnapshot whether the table may have no snapshot before the call */
  private def rollbackSchema(mayHaveNoSnapshot: Boolean): StructType = StructType(Seq(
    Procedure.column("previous_snapshot_id", LongType, "Snapshot that was the head before the call", mayHaveNoSnapshot),
    current
  ))

  val rollbackColumns: StructType = rollbackSchema(mayHaveNoSnapshot = false)
  val setColumns: StructType = rollbackSchema(mayHaveNoSnapshot = true)

  val cherrypickColumns: StructType = StructType(Seq(
    Procedure.column("source_snapshot_id", LongType, "Snapshot whose changes were applied"),
    current
  ))

  def rollbackResult(change: (Table, Table), of: SnapshotTarget.Branch = SnapshotTarget.Main): Seq[Row] = {
    val (before, after) = change
    Seq(ResultRow(of.head(before.metadata).map(_.snapshotId), idOf(after, of)))
  }

  def cherrypickResult(source: Long, change: (Table, Table), to: SnapshotTarget.Branch): Seq[Row] =
    Seq(Row(source, idOf(change._2, to)))

  private def idOf(table: Table, branch: SnapshotTarget.Branch): Long = branch.head(table.metadata).fold(
    throw ValidationFailed(s"The branch ${branch.name} of ${table.name} has no snapshot after the change")
  )(_.snapshotId)
}
