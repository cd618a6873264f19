package iceberglite.spark.procedure

import org.apache.spark.sql.Row
import org.apache.spark.sql.types.{LongType, StructType}

import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.table.action.{StreamWriter, UpdateProperties}

/** `CALL catalog.system.drop_stream_writer(table, query_id)` */
object DropStreamWriterProcedure extends Procedure {
  private val queryId = Parameter.required(
    "query_id",
    ParameterType.Text,
    "Id of a query that has ended for good. If it runs again, its last micro-batch may be written twice"
  )

  override val name = "drop_stream_writer"
  override val description = "Remove the record of a streaming query that will not write to the table again"
  override val parameters: Seq[Parameter[_]] = Seq(Parameter.table, queryId)

  override val output: StructType = StructType(Seq(Procedure.column(
    "epoch",
    LongType,
    "Number of the last committed micro-batch, from a table property; NULL if its value was not a number",
    nullable = true
  )))

  override def call(arguments: Arguments, context: ProcedureContext): Seq[Row] = {
    val id = arguments(queryId)
    val (before, _) = context.change(arguments(Parameter.table)) { table =>
      val known = StreamWriter.of(table)
      val writer = known.find(_.queryId == id).getOrElse(throw InvalidArgument(
        s"argument ${queryId.name}",
        id,
        s"The table has no record of this query. It has records of: ${known.map(_.queryId).mkString(", ")}"
      ))
      new UpdateProperties(Map.empty, Set(writer.property))
    }
    Seq(ResultRow(StreamWriter.of(before.metadata).find(_.queryId == id).flatMap(_.epoch)))
  }
}
