package iceberglite.spark.procedure

import org.apache.spark.sql.Row
import org.apache.spark.sql.types.{IntegerType, StructType}

import iceberglite.spark.view.ViewName
import iceberglite.spec.IcebergError.Unsupported

/** `CALL catalog.system.rollback_view(table, version_id)` */
object RollbackViewProcedure extends Procedure {
  private val version =
    Parameter.required("version_id", ParameterType.Count, "Version to make current; the view must still have it")

  override val name = "rollback_view"
  override val description = "Make an earlier version of a view current"
  override val parameters: Seq[Parameter[_]] = Seq(Parameter.view, version)

  override val output: StructType = StructType(Seq(
    Procedure.column("previous_version_id", IntegerType, "Version that was current before the call"),
    Procedure.column("current_version_id", IntegerType, "Version that is current after the call")
  ))

  override def call(arguments: Arguments, context: ProcedureContext): Seq[Row] = {
    val ident = context.identifier(arguments(Parameter.view))
    val view = ViewName.in(context.catalog, ident).getOrElse(
      throw Unsupported(s"views in catalog ${context.catalog.name}", "Use a hadoop, jdbc, rest or hive catalog")
    )
    val (before, after) = view.rollback(arguments(version))
    Seq(Row(before.currentVersionId, after.currentVersionId))
  }
}
