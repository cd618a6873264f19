package iceberglite.spark.procedure

import org.apache.spark.sql.Row
import org.apache.spark.sql.types.{IntegerType, StructType}

import iceberglite.spark.catalog.TableEvolution

/** `CALL catalog.system.alter_table(table, changes)` */
object AlterTableProcedure extends Procedure {
  private val changes = Parameter.required(
    "changes",
    ParameterType.Texts,
    "Changes in their order, each as the part of an ALTER TABLE statement after the name of the table, such as `ADD " +
      "COLUMN city STRING`"
  )

  override val name = "alter_table"
  override val description =
    "Change columns, partitioning, sort order, identifier fields and properties of the table in one commit"
  override val parameters: Seq[Parameter[_]] = Seq(Parameter.table, changes)

  override val output: StructType = StructType(Seq(
    Procedure.column("schema_id", IntegerType, "Id of the current schema after the call"),
    Procedure.column("partition_spec_id", IntegerType, "Id of the default partition spec after the call"),
    Procedure.column("sort_order_id", IntegerType, "Id of the default sort order after the call")
  ))

  override def call(arguments: Arguments, context: ProcedureContext): Seq[Row] = {
    val ident = context.identifier(arguments(Parameter.table))
    val evolution = new TableEvolution(context.session, context.catalog, ident)
    val after = evolution.commit(arguments(changes).map(evolution.parse)).metadata
    Seq(Row(after.currentSchemaId, after.defaultSpecId, after.defaultSortOrderId))
  }
}
