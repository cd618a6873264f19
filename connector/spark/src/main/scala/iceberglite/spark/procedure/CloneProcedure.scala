package iceberglite.spark.procedure

import org.apache.spark.sql.Row
import org.apache.spark.sql.types.{LongType, StringType, StructType}

import iceberglite.maintenance.CloneOptions
import iceberglite.spark.maintenance.TableClones

/** `CALL catalog.system.clone(source_table, table, ...)` */
object CloneProcedure extends Procedure {
  private val source =
    Parameter.required("source_table", ParameterType.Text, "Table to clone, of any iceberg-lite catalog")
  private val snapshotId =
    Parameter.optional("snapshot_id", ParameterType.Id, "Id of the snapshot to clone; by default the current one")
  private val ref =
    Parameter.optional("ref", ParameterType.Text, "Branch or tag to clone, instead of a snapshot id")
  private val location = Parameter.optional(
    "location",
    ParameterType.Text,
    "Location of the new table; by default, the catalog of the new table chooses it"
  )
  private val properties = Parameter.optional(
    "properties",
    ParameterType.Options,
    "Properties of the new table, in addition to those of the source"
  )

  override val name = "clone"
  override val description =
    "Create a table, with gc.enabled=false, that refers to the files of a snapshot of another table"
  override val parameters: Seq[Parameter[_]] = Seq(source, Parameter.table, snapshotId, ref, location, properties)
  override val createsTable: Boolean = true

  override val output: StructType = StructType(Seq(
    Procedure.column(
      "cloned_snapshot_id",
      LongType,
      "Id of the cloned snapshot, which is the same in both tables; null if the source has no snapshot",
      nullable = true
    ),
    Procedure.column("cloned_data_files_count", LongType, "Number of data files in the snapshot"),
    Procedure.column("cloned_delete_files_count", LongType, "Number of delete files in the snapshot"),
    Procedure.column("metadata_location", StringType, "Metadata file of the new table")
  ))

  override def call(arguments: Arguments, context: ProcedureContext): Seq[Row] = {
    val ident = context.identifier(arguments(Parameter.table))
    val table = context.tableOfAnyCatalog(source, arguments(source))
    val options = CloneOptions(
      arguments.get(snapshotId),
      arguments.get(ref),
      arguments.get(location),
      arguments.get(properties).getOrElse(Map.empty)
    )
    val result = TableClones.create(context.session, table, context.catalog, ident, options)
    Seq(ResultRow(
      result.snapshot.map(_.snapshotId),
      result.dataFiles,
      result.deleteFiles,
      result.table.metadataLocation
    ))
  }
}
