package iceberglite.spark.procedure

import org.apache.spark.sql.Row
import org.apache.spark.sql.types.{LongType, StructType}

import iceberglite.spec.metadata.SummaryKey

/** `CALL catalog.system.register_table(table, metadata_file)` */
object RegisterTableProcedure extends Procedure {
  private val file = Parameter.required(
    "metadata_file",
    ParameterType.Text,
    "Newest metadata file of the table; later commits through other catalogs are not visible"
  )

  override val name = "register_table"
  override val description = "Register an existing metadata file as a table"
  override val parameters: Seq[Parameter[_]] = Seq(Parameter.table, file)
  override val createsTable: Boolean = true

  override val output: StructType = StructType(Seq(
    Procedure.column("current_snapshot_id", LongType, "Current snapshot of the table", nullable = true),
    Procedure.column(
      "total_records_count",
      LongType,
      "Number of records in the data files of the current snapshot, without regard to delete files",
      nullable = true
    ),
    Procedure.column(
      "total_data_files_count",
      LongType,
      "Number of data files in the current snapshot",
      nullable = true
    )
  ))

  override def call(arguments: Arguments, context: ProcedureContext): Seq[Row] = {
    val ident = context.identifier(arguments(Parameter.table))
    val path = Parameter.metadataFile(file, "table", arguments)
    val current = context.catalog.registerTable(ident, path).currentSnapshot
    def total(key: String): Option[Long] = current.flatMap(_.count(key))
    Seq(ResultRow(current.map(_.snapshotId), total(SummaryKey.TotalRecords), total(SummaryKey.TotalDataFiles)))
  }
}
