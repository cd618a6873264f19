package iceberglite.spark.procedure

import org.apache.spark.sql.Row
import org.apache.spark.sql.types.{LongType, StringType, StructType}

import iceberglite.scan.stream.StreamBacklog
import iceberglite.spec.metadata.{Snapshot, TableMetadata}
import iceberglite.table.StreamConsumer

/** `CALL catalog.system.consumers(table)` */
object ConsumersProcedure extends Procedure {
  override val name = "consumers"
  override val description = "List the consumers of the table's streams, with their positions"
  override val parameters: Seq[Parameter[_]] = Seq(Parameter.table)
  override val manyRows: Boolean = true

  override val output: StructType = StructType(Seq(
    Procedure.column("consumer_id", StringType, "Id of the consumer"),
    Procedure.column("snapshot_id", LongType, "Last snapshot of which the consumer has read rows"),
    Procedure.column("timestamp", LongType, "Time of the commit of this snapshot, in milliseconds since 1970"),
    Procedure.column(
      "snapshots_behind",
      LongType,
      "Number of later snapshots of the main branch; NULL if this branch does not contain the snapshot",
      nullable = true
    ),
    Procedure.column("files_behind", LongType, "Number of data files that these snapshots added", nullable = true)
  ))

  override def call(arguments: Arguments, context: ProcedureContext): Seq[Row] = {
    val table = context.table(arguments(Parameter.table)).current.metadata
    StreamConsumer.of(table).map { case (consumer, tag) =>
      val snapshot = table.snapshot(tag.snapshotId)
      val behind = laterThan(table, snapshot).map(StreamBacklog.of)
      ResultRow(
        consumer.id,
        snapshot.snapshotId,
        snapshot.timestampMs,
        behind.map(_.snapshots.toLong),
        behind.map(_.files)
      )
    }
  }

  private def laterThan(table: TableMetadata, snapshot: Snapshot): Option[Vector[Snapshot]] = {
    val newestFirst = table.currentSnapshot.fold(Vector.empty[Snapshot])(table.ancestors(_).toVector)
    Some(newestFirst.indexWhere(_.snapshotId == snapshot.snapshotId)).filter(_ >= 0).map(newestFirst.take)
  }
}
