package iceberglite.spark.procedure

import org.apache.spark.sql.Row
import org.apache.spark.sql.types.{LongType, StructType}

import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.table.action
import iceberglite.table.action.RestorePoint

/** `CALL catalog.system.restore(table, snapshot_id)`, or with `ref => name` or `timestamp => time`. */
object RestoreProcedure extends Procedure {
  private val snapshot = Parameter.optional(
    "snapshot_id",
    ParameterType.Id,
    "Snapshot to restore; exactly one of `snapshot_id`, `ref` and `timestamp` must be given"
  )
  private val ref = Parameter.optional("ref", ParameterType.Text, "Branch or tag whose snapshot is restored")
  private val timestamp = Parameter.optional(
    "timestamp",
    ParameterType.Time,
    "Time; the snapshot that TIMESTAMP AS OF reads for this time is restored"
  )

  override val name = "restore"
  override val description =
    "Set any snapshot of the table as the current snapshot, and count the files that this adds and removes"
  override val parameters: Seq[Parameter[_]] = Seq(Parameter.table, snapshot, ref, timestamp)

  override val output: StructType = StructType(Seq(
    Procedure.column("previous_snapshot_id", LongType, "Snapshot that was current before the call", nullable = true),
    Procedure.column("current_snapshot_id", LongType, "Snapshot that is current after the call"),
    count("added_data_files_count", "Number of data files that only the restored snapshot has"),
    count("removed_data_files_count", "Number of data files that only the previous snapshot has"),
    count("added_records_count", "Number of records in the added data files, without regard to delete files"),
    count("removed_records_count", "Number of records in the removed data files, without regard to delete files"),
    count("added_delete_files_count", "Number of delete files that only the restored snapshot has"),
    count("removed_delete_files_count", "Number of delete files that only the previous snapshot has")
  ))

  /** Returns a column with a count, which is null if the metadata of the previous snapshot cannot be read. */
  private def count(name: String, doc: String) = Procedure.column(name, LongType, doc, nullable = true)

  override def call(arguments: Arguments, context: ProcedureContext): Seq[Row] = {
    val points = Seq(
      arguments.get(snapshot).map(id => s"snapshot_id $id" -> RestorePoint.AtSnapshot(id)),
      arguments.get(ref).map(name => s"ref $name" -> RestorePoint.AtRef(name)),
      arguments.get(timestamp).map(ms => s"timestamp ${java.time.Instant.ofEpochMilli(ms)}" -> RestorePoint.AtTime(ms))
    ).flatten
    points match {
      case Seq((_, point)) => restore(arguments(Parameter.table), point, context)
      case given => throw InvalidArgument(
          s"arguments of $name",
          if (given.isEmpty) "none" else given.map(_._1).mkString(" and "),
          "Set exactly one of snapshot_id, ref and timestamp"
        )
    }
  }

  /** Restores a snapshot of a table. Returns the row of the result. */
  private[iceberglite] def restore(table: String, point: RestorePoint, context: ProcedureContext): Seq[Row] = {
    val restoring = new action.Restore(point)
    context.change(table)(_ => restoring)
    val report = restoring.report
    val (added, removed) = (report.difference.map(_.added), report.difference.map(_.removed))
    Seq(ResultRow(
      report.previousSnapshotId,
      report.currentSnapshotId,
      added.map(_.dataFiles),
      removed.map(_.dataFiles),
      added.map(_.records),
      removed.map(_.records),
      added.map(_.deleteFiles),
      removed.map(_.deleteFiles)
    ))
  }
}
