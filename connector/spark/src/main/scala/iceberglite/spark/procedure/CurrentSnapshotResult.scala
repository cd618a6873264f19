package iceberglite.spark.procedure

import org.apache.spark.sql.Row
import org.apache.spark.sql.types.{LongType, StructType}

import iceberglite.spec.IcebergError.ValidationFailed
import iceberglite.table.Table

/** The result columns of procedures that change the current snapshot. */
private[procedure] object CurrentSnapshotResult {
  private val current = Procedure.column("current_snapshot_id", LongType, "Snapshot that is current after the call")

  /** @param mayHaveNoSnapshot whether the table may have no snapshot before the call */
  private def rollbackSchema(mayHaveNoSnapshot: Boolean): StructType = StructType(Seq(
    Procedure.column("previous_snapshot_id", LongType, "Snapshot that was current before the call", mayHaveNoSnapshot),
    current
  ))

  val rollbackColumns: StructType = rollbackSchema(mayHaveNoSnapshot = false)
  val setColumns: StructType = rollbackSchema(mayHaveNoSnapshot = true)

  val cherrypickColumns: StructType = StructType(Seq(
    Procedure.column("source_snapshot_id", LongType, "Snapshot whose changes were applied"),
    current
  ))

  def rollbackResult(change: (Table, Table)): Seq[Row] = {
    val (before, after) = change
    Seq(ResultRow(before.metadata.currentSnapshotId, idOf(after)))
  }

  def cherrypickResult(source: Long, change: (Table, Table)): Seq[Row] = Seq(Row(source, idOf(change._2)))

  private def idOf(table: Table): Long = table.currentSnapshot.fold(
    throw ValidationFailed(s"${table.name} has no current snapshot after the change")
  )(_.snapshotId)
}
