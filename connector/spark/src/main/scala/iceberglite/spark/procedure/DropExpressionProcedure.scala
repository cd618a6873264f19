package iceberglite.spark.procedure

import org.apache.spark.sql.Row
import org.apache.spark.sql.types.{StringType, StructType}

import iceberglite.table.action.RemoveExpression

/** `CALL catalog.system.drop_expression(table, expression_id)` */
object DropExpressionProcedure extends Procedure {
  private val id = Parameter.required(
    "expression_id",
    ParameterType.Count,
    "Id of the expression, as the procedure `expressions` returns it. No partition spec may use the expression"
  )

  override val name = "drop_expression"
  override val description = "Remove an expression of a table of format version 4, with its statistics"
  override val parameters: Seq[Parameter[_]] = Seq(Parameter.table, id)

  override val output: StructType =
    StructType(Seq(Procedure.column("name", StringType, "Name that the expression had")))

  override def call(arguments: Arguments, context: ProcedureContext): Seq[Row] = {
    val (before, _) = context.change(arguments(Parameter.table))(_ => new RemoveExpression(arguments(id)))
    before.metadata.expressions.filter(_.id == arguments(id)).map(e => ResultRow(e.name))
  }
}
