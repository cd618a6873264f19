package iceberglite.spark.procedure

import org.apache.spark.sql.Row
import org.apache.spark.sql.types.{LongType, StringType, StructType}

import iceberglite.table.action.StreamWriter

/** `CALL catalog.system.stream_writers(table)` */
object StreamWritersProcedure extends Procedure {
  override val name = "stream_writers"
  override val description = "List the streaming queries that have written to the table, with their last micro-batches"
  override val parameters: Seq[Parameter[_]] = Seq(Parameter.table)
  override val manyRows: Boolean = true

  override val output: StructType = StructType(Seq(
    Procedure.column("query_id", StringType, "Id of the query, which its checkpoint contains"),
    Procedure.column(
      "epoch",
      LongType,
      "Number of the last committed micro-batch, from a table property; NULL if its value is not a number",
      nullable = true
    ),
    Procedure.column(
      "snapshot_id",
      LongType,
      "Newest snapshot of the query in the history of the main branch; NULL if there is none",
      nullable = true
    ),
    Procedure.column(
      "timestamp",
      LongType,
      "Time of the commit of this snapshot, in milliseconds since 1970",
      nullable = true
    )
  ))

  override def call(arguments: Arguments, context: ProcedureContext): Seq[Row] = {
    val table = context.table(arguments(Parameter.table)).current.metadata
    StreamWriter.of(table).map { writer =>
      val newest = writer.newestSnapshot(table)
      ResultRow(writer.queryId, writer.epoch, newest.map(_.snapshotId), newest.map(_.timestampMs))
    }
  }
}
