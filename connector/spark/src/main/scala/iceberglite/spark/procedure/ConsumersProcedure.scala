package iceberglite.spark.procedure

import org.apache.spark.sql.Row
import org.apache.spark.sql.types.{LongType, StringType, StructType}

import iceberglite.scan.stream.StreamBacklog
import iceberglite.spec.metadata.{Snapshot, SnapshotRef, TableMetadata}
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
      "Number of later snapshots of main, or of the only branch with the snapshot; NULL if the branch is unknown",
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

  /** Returns the snapshots that the consumer has not read; absent if it is unknown which branch it follows. */
  private def laterThan(table: TableMetadata, snapshot: Snapshot): Option[Vector[Snapshot]] = {
    val heads = table.refs.values.collect { case branch: SnapshotRef.Branch => branch.snapshotId }.toSet
    def after(head: Snapshot): Option[Vector[Snapshot]] = {
      val newestFirst = table.ancestors(head).toVector
      Some(newestFirst.indexWhere(_.snapshotId == snapshot.snapshotId)).filter(_ >= 0).map(newestFirst.take)
    }
    table.currentSnapshot.flatMap(after).orElse {
      Some(heads.flatMap(table.findSnapshot(_)).flatMap(after(_))).filter(_.size == 1).map(_.head)
    }
  }
}
