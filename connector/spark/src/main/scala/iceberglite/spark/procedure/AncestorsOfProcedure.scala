package iceberglite.spark.procedure

import org.apache.spark.sql.Row
import org.apache.spark.sql.types.{LongType, StructType}

/**
 * `CALL catalog.system.ancestors_of(table)`, optionally with `snapshot_id` or `branch` to start with another snapshot
 * than the current snapshot.
 */
object AncestorsOfProcedure extends Procedure {
  override val name = "ancestors_of"
  override val description = "List a snapshot and its ancestors, newest first"
  override val parameters: Seq[Parameter[_]] = Seq(Parameter.table, SelectedSnapshot.id, SelectedSnapshot.branch)
  override val manyRows: Boolean = true

  override val output: StructType = StructType(Seq(
    Procedure.column("snapshot_id", LongType, "Id of the snapshot"),
    Procedure.column("timestamp", LongType, "Time of its commit, in milliseconds since 1970")
  ))

  override def call(arguments: Arguments, context: ProcedureContext): Seq[Row] = {
    val table = context.table(arguments(Parameter.table)).current.metadata
    SelectedSnapshot.of(arguments, table).toSeq.flatMap(table.ancestors(_).map(s => Row(s.snapshotId, s.timestampMs)))
  }
}
