package iceberglite.spark.procedure

import org.apache.spark.sql.Row
import org.apache.spark.sql.types.{LongType, StructType}

import iceberglite.spec.IcebergError.NotFound
import iceberglite.spec.ObjectKind
import iceberglite.table.StreamConsumer
import iceberglite.table.action.RemoveRef

/** `CALL catalog.system.drop_consumer(table, consumer_id)` */
object DropConsumerProcedure extends Procedure {
  private val consumerId =
    Parameter.required("consumer_id", ParameterType.Text, "Id of the consumer, which the option `consumer-id` sets")

  override val name = "drop_consumer"
  override val description = "Remove a consumer of the table's streams, so that unread snapshots can expire"
  override val parameters: Seq[Parameter[_]] = Seq(Parameter.table, consumerId)

  override val output: StructType = StructType(Seq(
    Procedure.column("snapshot_id", LongType, "Last snapshot of which the consumer had read rows")
  ))

  override def call(arguments: Arguments, context: ProcedureContext): Seq[Row] = {
    val consumer = StreamConsumer(arguments(consumerId))
    val (before, _) = context.change(arguments(Parameter.table)) { table =>
      val known = StreamConsumer.of(table).map(_._1.id)
      if (!known.contains(consumer.id)) throw NotFound(
        ObjectKind.Tag,
        consumer.tag,
        s"The table has no consumer ${consumer.id}. The consumers are: ${known.mkString(", ")}"
      )
      new RemoveRef(consumer.tag)
    }
    Seq(Row(before.metadata.refs(consumer.tag).snapshotId))
  }
}
