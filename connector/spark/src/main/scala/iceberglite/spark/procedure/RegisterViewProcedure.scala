package iceberglite.spark.procedure

import org.apache.spark.sql.Row
import org.apache.spark.sql.types.{IntegerType, StructType}

import iceberglite.spark.view.ViewName
import iceberglite.spec.IcebergError.{AlreadyExists, Unsupported}
import iceberglite.spec.ObjectKind

/** `CALL catalog.system.register_view(table, metadata_file)`. The argument `table` is the name of the view. */
object RegisterViewProcedure extends Procedure {
  private val file = Parameter.required(
    "metadata_file",
    ParameterType.Text,
    "Newest metadata file of the view; later commits through other catalogs are not visible"
  )

  override val name = "register_view"
  override val description = "Register an existing metadata file as a view"
  override val parameters: Seq[Parameter[_]] = Seq(Parameter.view, file)
  override val createsTable: Boolean = true

  override val output: StructType =
    StructType(Seq(Procedure.column("current_version_id", IntegerType, "Current version of the view")))

  override def call(arguments: Arguments, context: ProcedureContext): Seq[Row] = {
    val ident = context.identifier(arguments(Parameter.view))
    val path = Parameter.metadataFile(file, "view", arguments)
    val view = ViewName.in(context.catalog, ident).getOrElse(
      throw Unsupported(s"views in catalog ${context.catalog.name}", "Use a jdbc, rest or hive catalog")
    )
    if (context.catalog.tableExists(ident))
      throw AlreadyExists(ObjectKind.Table, view.toString, "Drop the table first, or choose another name for the view")
    Seq(Row(view.views.registerView(view.id, path).metadata.currentVersionId))
  }
}
